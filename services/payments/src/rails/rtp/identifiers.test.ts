import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageFieldError } from '../iso20022/errors.ts';
import {
  businessMessageId,
  INSTRUCTION_SERIAL_MAX,
  instructionId,
  MESSAGE_SERIAL_MAX,
  messageId,
} from './identifiers.ts';

const DATE = '2026-11-15';
const PARTICIPANT = '234567891T1';

describe('identifiers', () => {
  test('have the form that the network sets', () => {
    const parts = { date: DATE, participant: PARTICIPANT, serial: 42 };
    expect(messageId({ ...parts, source: 'B' })).toBe('M20261115234567891T1B00000000000042');
    expect(businessMessageId({ ...parts, source: 'H' })).toBe('B20261115234567891T1H00000000000042');
    expect(instructionId({ ...parts, system: 'A001' })).toBe('20261115234567891T1BA00100000000042');
  });

  test('are of 35 characters and differ when the serial does', () => {
    const serial = fc.integer({ min: 0, max: INSTRUCTION_SERIAL_MAX });
    fc.assert(
      fc.property(serial, serial, (one, other) => {
        const idsOf = (number: number) => [
          messageId({ date: DATE, participant: PARTICIPANT, source: 'B', serial: number }),
          instructionId({ date: DATE, participant: PARTICIPANT, system: 'A001', serial: number }),
        ];
        for (const id of idsOf(one)) expect(id).toHaveLength(35);
        expect(idsOf(one).map((id, index) => id === idsOf(other)[index])).toEqual([
          one === other,
          one === other,
        ]);
      }),
    );
  });

  test('reach to the last serial and not beyond', () => {
    const message = (serial: number) =>
      messageId({ date: DATE, participant: PARTICIPANT, source: 'B', serial });
    const instruction = (serial: number) =>
      instructionId({ date: DATE, participant: PARTICIPANT, system: 'A001', serial });
    expect(message(MESSAGE_SERIAL_MAX)).toHaveLength(35);
    expect(instruction(INSTRUCTION_SERIAL_MAX)).toHaveLength(35);
    expect(() => message(MESSAGE_SERIAL_MAX + 1)).toThrow(MessageFieldError);
    expect(() => instruction(INSTRUCTION_SERIAL_MAX + 1)).toThrow(MessageFieldError);
  });

  test.each([
    ['a date that does not exist', { date: '2026-02-29' }],
    ['a participant of nine characters', { participant: '234567891' }],
    ['a participant in small letters', { participant: '234567891t1' }],
    ['a system of three characters', { system: 'A01' }],
    ['a negative serial', { serial: -1 }],
    ['a serial with a fraction', { serial: 0.5 }],
    ['no number', { serial: Number.NaN }],
  ])('refuse %s', (_name, fields) => {
    const parts = { date: DATE, participant: PARTICIPANT, system: 'A001', serial: 1, ...fields };
    expect(() => instructionId(parts)).toThrow(MessageFieldError);
  });
});
