/*
 * What a Postgres client says, read from the bytes it sends: which statement it is about to run. Enough of the protocol for
 * our driver: statements come as Query, or as Parse, Bind and Execute, and a prepared one is later named by Bind alone.
 */

const QUERY = 'Q'.charCodeAt(0);
const PARSE = 'P'.charCodeAt(0);
const BIND = 'B'.charCodeAt(0);
const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

export interface FrontendReader {
  /** Takes what the client sent. Answers the statements that it runs by it, in their order. */
  read(chunk: Buffer): string[];
}

export function createFrontendReader(): FrontendReader {
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  const prepared = new Map<string, string>();

  function statementOf(type: number, body: Buffer): string[] {
    if (type === QUERY) return [textAt(body, 0).text];
    if (type === PARSE) {
      const name = textAt(body, 0);
      prepared.set(name.text, textAt(body, name.end).text);
    }
    if (type !== BIND) return [];
    const portal = textAt(body, 0);
    return [prepared.get(textAt(body, portal.end).text) ?? ''];
  }

  return {
    read(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const statements: string[] = [];
      for (;;) {
        // The first message of a connection has a length and no type.
        const head = isStarted ? TYPE_BYTES : 0;
        if (rest.length < head + LENGTH_BYTES) return statements;
        const end = head + rest.readUInt32BE(head);
        if (rest.length < end) return statements;
        if (isStarted)
          statements.push(...statementOf(rest[0] as number, rest.subarray(head + LENGTH_BYTES, end)));
        isStarted = true;
        rest = rest.subarray(end);
      }
    },
  };
}

function textAt(body: Buffer, start: number): { text: string; end: number } {
  const end = body.indexOf(0, start);
  return { text: body.toString('utf8', start, end), end: end + 1 };
}
