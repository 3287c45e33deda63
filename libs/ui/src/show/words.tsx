import { Fragment, type ReactNode } from 'react';

/** Words that a program wrote within a sentence, as one of their own. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A code as people read it: `account_closed` is "Account closed", `payment.failed` is "Payment failed". */
export function wordsOfCode(code: string): string {
  return capitalised(code.replaceAll(/[_.]/g, ' '));
}

/** A code that is parted between its words where it has to go on in the next line. */
export function breakable(code: string): ReactNode {
  return code.split(/(?<=[_.:])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one code never move
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}

/** Words for people, and beside them the code that a developer looks for. */
export function Coded({ code, words = wordsOfCode(code) }: { code: string; words?: string }) {
  return (
    <span>
      {words} <code className="ui-id ui-beside">{breakable(code)}</code>
    </span>
  );
}
