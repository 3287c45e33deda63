import { hash } from 'node:crypto';
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

test('what was filled into a template is read for ever', () => {
  const values = [
    'A0000000001',
    'B0000000002',
    'B20261116',
    '2026-11-16T03:00:00',
    'M20261116',
    '2026-11-16T03:00:00',
  ];
  values.push('25.00', '2026-11-16', 'I1', 'pay_1', 'I1', 'CONSUMER', '25.00', '021000021', '021000021');
  values.push('Alice', '1', '021000021', '021000021', 'Bob', '2', 'Rent');
  const text = unpackText(Buffer.from(`\u0002\u0001${values.join('\n')}`));
  expect(hash('sha256', text)).toBe('d197e41a0e423b2cfaf43d10fb6951e64be180921a6d0e35f6a4ee7d74627a2c');
  expect(text).toContain('<ct:Cdtr><ct:Nm>Bob</ct:Nm></ct:Cdtr>');
  expect(packText(text)).toEqual(Buffer.from(`\u0002\u0001${values.join('\n')}`));
  expect(unpackText(packText(text.replace('Bob', 'Bo\nb')))).toBe(text.replace('Bob', 'Bo\nb'));
});

test('transfers of our own builder are filled in, with and without a remark, and need no deflating', () => {
  fc.assert(
    fc.property(header, creditTransfer, (head, transfer) => {
      const ours = { ...transfer, uetr: null, clearingReference: null };
      expect(packText(buildCreditTransfer({ ...head, copy: null }, ours))[0]).toBe(2);
    }),
    { numRuns: 50 },
  );
});

test('a stored text that would grow beyond all messages, or has another form, is not opened', () => {
  const bomb = Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(32 * 1024 * 1024))]);
  expect(() => unpackText(bomb)).toThrow(/larger than/);
  for (const unknown of ['<xml/>', '\u0002', '\u0002\u0009A', '\u0002\u0001A\nB'])
    expect(() => unpackText(Buffer.from(unknown))).toThrow('a form that is known');
});
