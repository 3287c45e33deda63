import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packText, unpackText } from './packed-text.ts';
import { buildCreditTransfer } from './rtp/messages/credit-transfer.ts';
import { creditTransfer, header } from './rtp/messages/testing.ts';

test('every text comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), (text) => {
      expect(unpackText(packText(text))).toBe(text.toWellFormed());
    }),
  );
});

test('a transfer needs less than half of its bytes', () => {
  fc.assert(
    fc.property(header, creditTransfer, (head, transfer) => {
      const xml = buildCreditTransfer(head, transfer);
      expect(unpackText(packText(xml))).toBe(xml);
      expect(packText(xml).length).toBeLessThan(Buffer.byteLength(xml) / 2);
    }),
    { numRuns: 50 },
  );
});

test('what was packed by the first form is read for ever', () => {
  const stored = 'AQPZ4Zdr56hQklpRolCSkViikFmskJ1aUKKQll+kkFqWWgQ21C/XDgA=';
  expect(unpackText(Buffer.from(stored, 'base64'))).toBe('<ct:Nm>A text that is kept for ever</ct:Nm>');
});

test('a stored text that would grow beyond all messages, or has another form, is not opened', () => {
  const bomb = Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(32 * 1024 * 1024))]);
  expect(() => unpackText(bomb)).toThrow(/larger than/);
  expect(() => unpackText(Buffer.from('<xml/>'))).toThrow('a form that is known');
});
