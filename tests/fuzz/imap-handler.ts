import { compiler, parser } from 'imapflow/lib/handler/imap-handler.js';

const LITERAL = /\{(\d+)\}\r?\n/;

/** What the library does with one answer: its literals cut out, the rest parsed, and written down again for its log. */
export async function imapHandler(answer: Buffer): Promise<void> {
  const literals: Buffer[] = [];
  const text: Buffer[] = [];
  let rest = answer;
  for (
    let marker = LITERAL.exec(rest.toString('latin1'));
    marker !== null;
    marker = LITERAL.exec(rest.toString('latin1'))
  ) {
    const end = marker.index + marker[0].length;
    text.push(rest.subarray(0, end));
    literals.push(rest.subarray(end, end + Number(marker[1])));
    rest = rest.subarray(end + Number(marker[1]));
  }
  const line = Buffer.concat([...text, rest])
    .toString('latin1')
    .replace(/\r?\n$/, '');
  let parsed: Parameters<typeof compiler>[0];
  try {
    parsed = await parser(Buffer.from(line, 'latin1'), { literals });
  } catch {
    // What cannot be parsed is skipped by the library, too; here only the time counts.
    return;
  }
  await compiler(parsed, { isLogging: true });
}
