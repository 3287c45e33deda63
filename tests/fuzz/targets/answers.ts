import { strict as assert } from 'node:assert';
import { ANSWER_LIMITS, AnswerFault, AnswerReader } from '../../../libs/egress/src/posting/answer.ts';
import { KIB, type Target } from '../fuzz.ts';

const PIECE_MAX = 97;

/** What a receiver of webhooks answers: cut into pieces it is the same answer as in one. */
export const answers: Target = {
  name: 'answers',
  words: [
    ...[
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.0 500\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 204 No\r\n\r\n',
    ],
    ...[
      'content-length: 3\r\n',
      'transfer-encoding: chunked\r\n',
      'connection: close\r\n',
      'keep-alive: timeout=5\r\n',
    ],
    ...['retry-after: 9\r\n', '\r\n', '\n', '\r', '0\r\n\r\n', '3\r\nabc\r\n', ';x=y', ':', ' ', '\0'],
  ],
  bytesMax: 64 * KIB,
  run(input) {
    const whole = read([input]);
    const pieces: Buffer[] = [];
    for (let at = 0; at < input.length; ) {
      // As long as the byte there says, so that an input tells how it is cut.
      const length = 1 + ((input[at] ?? 0) % PIECE_MAX);
      pieces.push(input.subarray(at, at + length));
      at += length;
    }
    const cut = read(pieces);
    assert(whole.kept.length <= ANSWER_LIMITS.keptBytes, 'kept more than is wanted');
    // What is over its bounds is given up at the piece that passes them.
    if (input.length > ANSWER_LIMITS.bodyBytes) return;
    assert.deepEqual(cut, whole);
  },
};

function read(pieces: readonly Buffer[]) {
  const reader = new AnswerReader();
  let state = 'more';
  try {
    for (const piece of pieces) {
      if (state !== 'more') break;
      state = reader.read(piece);
    }
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    state = 'fault';
  }
  const isOver = state === 'whole';
  return {
    state,
    status: reader.status,
    retryAfter: reader.retryAfter,
    kept: isOver ? Buffer.concat(reader.kept).toString('latin1') : '',
  };
}
