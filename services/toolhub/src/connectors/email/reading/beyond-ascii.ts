import type { SearchObject } from 'imapflow';
import { ConnectorError } from '../../connector.ts';
import { isBeyondAscii } from '../imap/literals.ts';
import { SearchRefused } from '../imap/mailbox.ts';
import type { MessageHead } from '../mime/message.ts';

/** What the head of a message shows. */
const COMPARED = ['from', 'to', 'subject'] as const;

export interface ComparedHere {
  criteria: SearchObject;
  isMatch: (head: MessageHead) => boolean;
}

/**
 * A server need search in ASCII alone (RFC 3501 6.4.4), and those of Microsoft do. Where one refused a search with other
 * letters, it is asked for the rest, and these words are looked for here, among what the head of each message shows. Null
 * where that is not why it refused.
 */
export function comparedHere(criteria: SearchObject, error: unknown): ComparedHere | null {
  if (!(error instanceof SearchRefused)) return null;
  if (isBeyondAscii(criteria.text))
    throw new ConnectorError(
      'platform_error',
      'the IMAP server refused to search; not every one finds letters beyond ASCII in a whole message, so look in from, to or subject for them',
      { platformCode: 'NO', cause: error },
    );
  const fields = COMPARED.filter((field) => isBeyondAscii(criteria[field]));
  if (fields.length === 0) return null;
  const wanted = fields.map((field) => [field, folded(String(criteria[field]))] as const);
  return {
    criteria: Object.fromEntries(
      Object.entries(criteria).filter(([name]) => !fields.some((field) => field === name)),
    ),
    isMatch: (head) => wanted.every(([field, words]) => shownOf(head, field).includes(words)),
  };
}

function shownOf(head: MessageHead, field: (typeof COMPARED)[number]): string {
  return folded([head[field] ?? ''].flat().join('\n'));
}

/** As servers compare: without cases, and whichever way a letter with an accent is written. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
