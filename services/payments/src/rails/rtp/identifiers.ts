import { MessageFieldError } from '../iso20022/errors.ts';
import { isDate, type NetworkDate } from '../iso20022/network-time.ts';

/**
 * The network's identifiers, all of 35 characters:
 *
 *   message id           M YYYYMMDD participant(11) source(1) serial(14)
 *   business message id  B YYYYMMDD participant(11) source(1) serial(14)
 *   instruction id         YYYYMMDD participant(11) B         system(4) serial(11)
 *
 * The date is the network's own (Eastern), and a serial number is used once per day and participant: the
 * caller draws it from a sequence, never at random, because the network tells payments apart by it.
 */
export const MESSAGE_SERIAL_MAX = 99_999_999_999_999;
export const INSTRUCTION_SERIAL_MAX = 99_999_999_999;

/** Who generated a message: a participant, or the network itself. */
export type MessageSource = 'B' | 'H';

export interface MessageIdParts {
  readonly date: NetworkDate;
  readonly participant: string;
  readonly source: MessageSource;
  readonly serial: number;
}

export interface InstructionIdParts {
  readonly date: NetworkDate;
  readonly participant: string;
  /** Four characters at the bank's discretion, for example which of its systems counts the serial. */
  readonly system: string;
  readonly serial: number;
}

const PARTICIPANT = /^[A-Z0-9]{11}$/;
const SYSTEM = /^[A-Z0-9]{4}$/;

export function messageId(parts: MessageIdParts): string {
  return `M${messageTail(parts)}`;
}

export function businessMessageId(parts: MessageIdParts): string {
  return `B${messageTail(parts)}`;
}

export function instructionId(parts: InstructionIdParts): string {
  if (!SYSTEM.test(parts.system)) throw new MessageFieldError('system', '4 capital letters or digits');
  const serial = serialDigits(parts.serial, INSTRUCTION_SERIAL_MAX);
  return `${dateAndParticipant(parts.date, parts.participant)}B${parts.system}${serial}`;
}

export function isParticipant(text: string): boolean {
  return PARTICIPANT.test(text);
}

function messageTail(parts: MessageIdParts): string {
  const serial = serialDigits(parts.serial, MESSAGE_SERIAL_MAX);
  return `${dateAndParticipant(parts.date, parts.participant)}${parts.source}${serial}`;
}

/** The last one: a message begins three identifiers with it, and all of a batch with the same. */
let lastBeginning = { date: '', participant: '', text: '' };

function dateAndParticipant(date: NetworkDate, participant: string): string {
  if (lastBeginning.date === date && lastBeginning.participant === participant) return lastBeginning.text;
  if (!isDate(date)) throw new MessageFieldError('date', 'a calendar date YYYY-MM-DD');
  if (!PARTICIPANT.test(participant)) {
    throw new MessageFieldError('participant', '11 capital letters or digits');
  }
  const text = date.slice(0, 4) + date.slice(5, 7) + date.slice(8, 10) + participant;
  lastBeginning = { date, participant, text };
  return text;
}

function serialDigits(serial: number, max: number): string {
  if (!Number.isSafeInteger(serial) || serial < 0 || serial > max) {
    throw new MessageFieldError('serial', `a whole number from 0 to ${max}`);
  }
  return String(serial).padStart(String(max).length, '0');
}

export const MESSAGE_ID = identifier('M', 15);
export const BUSINESS_MESSAGE_ID = identifier('B', 15);
export const INSTRUCTION_ID = identifier('', 16);

/** Letter, date and participant, as the schemas have them; the rest is the sender's. */
function identifier(letter: string, restLengthMax: number): RegExp {
  const longMonth = '(?:0[13578]|1[02])(?:0[1-9]|[12]\\d|3[01])';
  const shortMonth = '(?:0[469]|11)(?:0[1-9]|[12]\\d|30)';
  const february = '02(?:0[1-9]|[12]\\d)';
  const date = `\\d{4}(?:${longMonth}|${shortMonth}|${february})`;
  return new RegExp(`^${letter}${date}[A-Z0-9]{11}[!-~]{0,${restLengthMax}}$`);
}
