import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANSWER_LIMITS, AnswerFault, AnswerReader } from './answer.ts';

const OK = 'HTTP/1.1 200 OK\r\n';

interface Read {
  state: 'more' | 'whole' | 'enough' | 'fault' | 'cut';
  status: number | null;
  retryAfter: string | null;
  kept: string;
  keepsOpenMs: number | null;
}

/** Feeds an answer in these pieces, each in memory that is overwritten afterwards, as a socket's is; then the end, where that is asked for. */
function read(pieces: readonly (string | Buffer)[], { ends = false } = {}): Read {
  const reader = new AnswerReader();
  let state: Read['state'] = 'more';
  try {
    for (const piece of pieces) {
      const memory = Buffer.from(piece as string, 'latin1');
      if (state === 'more') state = reader.read(memory);
      memory.fill('!');
    }
    if (ends && state === 'more') {
      state = 'cut';
      reader.end();
      state = 'whole';
    }
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    if (state !== 'cut') state = 'fault';
  }
  const { status, retryAfter, keepsOpenMs } = reader;
  return { state, status, retryAfter, kept: Buffer.concat(reader.kept).toString('latin1'), keepsOpenMs };
}

const answers = {
  plain: `${OK}content-length: 2\r\n\r\nok`,
  empty: 'HTTP/1.1 204 No Content\r\n\r\n',
  refusal: 'HTTP/1.1 500 Oh\r\nContent-Length: 11\r\nRetry-After: 7\r\n\r\nno such one',
  chunked:
    'HTTP/1.1 404 No\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nx: y\r\n\r\n',
  early: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}content-length: 0\r\n\r\n`,
  closing: `${OK}connection: keep-alive, Close\r\ncontent-length: 1\r\n\r\n.`,
  old: 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\n.',
  hinted: `${OK}keep-alive: max=9, timeout=5\r\ncontent-length: 0\r\n\r\n`,
  packed: `${OK}transfer-encoding: gzip, Chunked\r\n\r\n0\r\n\r\n`,
  bare: 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n',
};

describe('an answer', () => {
  it('is over where its framing says so', () => {
    const open = Number.POSITIVE_INFINITY;
    const success = { state: 'whole', status: 200, retryAfter: null, kept: '' };
    expect(read([answers.plain])).toEqual({ ...success, keepsOpenMs: open });
    expect(read([answers.empty])).toEqual({ ...success, status: 204, keepsOpenMs: open });
    expect(read([answers.refusal])).toEqual({
      ...{ state: 'whole', status: 500, retryAfter: '7', kept: 'no such one', keepsOpenMs: open },
    });
    expect(read([answers.chunked])).toEqual({
      ...{ state: 'whole', status: 404, retryAfter: null, kept: 'abc0123456789', keepsOpenMs: open },
    });
    expect(read([answers.early])).toEqual({ ...success, keepsOpenMs: open });
    expect(read([answers.closing])).toEqual({ ...success, keepsOpenMs: null });
    expect(read([answers.old])).toEqual({ ...success, keepsOpenMs: null });
    expect(read([answers.hinted])).toEqual({ ...success, keepsOpenMs: 5_000 });
    expect(read([answers.packed])).toEqual({ ...success, keepsOpenMs: open });
    expect(read([answers.bare])).toEqual({ ...success, keepsOpenMs: open });
  });

  it('is the same in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(answers)),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }),
        (answer, sizes) => {
          const pieces: string[] = [];
          let at = 0;
          for (const size of sizes) {
            pieces.push(answer.slice(at, at + size));
            at += size;
          }
          expect(read([...pieces, answer.slice(at)].filter((piece) => piece !== ''))).toEqual(read([answer]));
        },
      ),
    );
  });

  it('without a length goes on to the end of the connection, and is cut where it has one', () => {
    const endless = 'HTTP/1.1 503 Later\r\nretry-after: 9\r\n\r\nsoon';
    expect(read([endless])).toMatchObject({ state: 'more', status: 503, kept: 'soon' });
    expect(read([endless], { ends: true })).toMatchObject({
      state: 'whole',
      keepsOpenMs: null,
      retryAfter: '9',
    });
    expect(read([`${OK}content-length: 3\r\n\r\nok`], { ends: true })).toMatchObject({
      state: 'cut',
      status: 200,
    });
    expect(read(['HTTP/1.1 200'], { ends: true })).toMatchObject({ state: 'cut', status: null });
    expect(read([answers.chunked.slice(0, -2)], { ends: true })).toMatchObject({ state: 'cut', status: 404 });
  });

  it('is followed by nothing that could be taken for the next', () => {
    for (const answer of [answers.plain, answers.chunked, answers.empty])
      expect(read([`${answer}HTTP/1.1 200 OK\r\n\r\n`])).toMatchObject({ state: 'whole', keepsOpenMs: null });
  });

  it('of which more than enough comes has given its status', () => {
    const long = `${OK}content-length: 1000000\r\n\r\n`;
    const piece = Buffer.alloc(ANSWER_LIMITS.bodyBytes, 'x');
    expect(read([long, piece])).toMatchObject({ state: 'more' });
    expect(read([long, piece, 'x'])).toMatchObject({ state: 'enough', status: 200, keepsOpenMs: null });
    const trailers = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n';
    expect(read([trailers, 'a: b\r\n'.repeat(3_000)])).toMatchObject({ state: 'enough', keepsOpenMs: null });
    const refused = `HTTP/1.1 500 No\r\ncontent-length: 9999\r\n\r\n${'y'.repeat(600)}`;
    expect(read([refused]).kept).toHaveLength(ANSWER_LIMITS.keptBytes);
  });

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9\r\n\r\n'],
    ['another version', 'HTTP/2 200 OK\r\n\r\n'],
    ['no status', 'HTTP/1.1 abc\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000\r\n\r\n'],
    ['a status of none', 'HTTP/1.1 000 OK\r\n\r\n'],
    ['no end of what comes before', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(9)],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    ['a length and chunks', `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a length that is none', `${OK}content-length: -1\r\n\r\n`],
    ['a list of lengths', `${OK}content-length: 1, 1\r\n\r\na`],
    ['a folded field', `${OK}a: b\r\n c\r\n\r\n`],
    ['a field without a colon', `${OK}abc\r\n\r\n`],
    ['a blank before the colon', `${OK}content-length : 1\r\n\r\na`],
    ['a line feed alone', `${OK}a: b\ncontent-length: 0\r\n\r\n`],
    ['a carriage return alone', `${OK}a: b\rc: d\r\n\r\n`],
    ['a zero byte', `${OK}a: \0\r\n\r\n`],
    ['a chunk that is longer than it says', `${OK}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`],
    ['a chunk without a length', `${OK}transfer-encoding: chunked\r\n\r\n\r\n`],
    ['a chunk of too many digits', `${OK}transfer-encoding: chunked\r\n\r\n123456789\r\n`],
    ['a chunk with a sign', `${OK}transfer-encoding: chunked\r\n\r\n-1\r\n`],
    ['lines of chunks without carriage returns', `${OK}transfer-encoding: chunked\r\n\r\n0\n\n`],
    ['a long line between chunks', `${OK}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(300)}`],
    ['a long head', `${OK}a: ${'b'.repeat(ANSWER_LIMITS.headBytes)}\r\n\r\n`],
    ['a head without an end', `${OK}${'a: b\r\n'.repeat(3_000)}`],
  ])('is none with %s', (_what, text) => {
    expect(read([text]).state).toBe('fault');
    expect(read([...text]).state).toBe('fault');
  });
});
