import { JSON_LIMITS } from '@libs/http';
import { type JsonFault, type JsonLimits, JsonRefused, parseInSlices } from '@libs/runtime';

/** What WhatsApp reports about one phone number: a message that came in, or what became of one that went out. */
export type InboundItem = ReceivedMessage | MessageStatus;

interface ItemBase {
  phoneNumberId: string;
  messageId: string;
  /** When it happened, by WhatsApp's clock. */
  at: Date;
}

export interface ReceivedMessage extends ItemBase {
  kind: 'message';
  from: string;
  /** The vendor's own object, untouched. */
  message: Record<string, unknown>;
  contact: Record<string, unknown> | null;
}

export interface MessageStatus extends ItemBase {
  kind: 'status';
  recipient: string;
  state: string;
  /** The vendor's own object, untouched. */
  status: Record<string, unknown>;
}

/** Not the JSON that WhatsApp sends; the row is kept, with this as its problem. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}

/** What names an item among those of its phone number: a repeat has the same key. */
export function payloadKey(item: InboundItem): string {
  return item.kind === 'message' ? item.messageId : `${item.messageId} ${item.state}`;
}

/**
 * The messages and statuses of one delivery, in order. Parts of other kinds (account notices, template reviews) have
 * no phone number and give nothing. What lacks something is a fault, because passing it over would lose it unseen, and
 * keeps back nothing that came with it.
 */
export async function readPayload(
  body: Buffer,
  receivedAt: Date,
): Promise<{ items: InboundItem[]; faults: string[] }> {
  const faults = new Set<string>();
  const whole = await parse(body).catch((error: unknown) => noteFault(error, faults));
  const items = eachOf(
    whole === undefined ? [] : [whole],
    (payload) => eachOf(listOf(payload, 'entry'), (entry) => readEntry(entry, receivedAt, faults), faults),
    faults,
  );
  return { items, faults: [...faults] };
}

/** More than 3 MB of messages have, and no deeper than what can be read and written without a stack of its own. */
const DELIVERY_LIMITS: JsonLimits = { valuesMax: 300_000, depthMax: 1_000 };

const REFUSALS: Record<JsonFault, string> = {
  encoding: 'the body is not JSON',
  syntax: 'the body is not JSON',
  repeated_key: 'the body repeats a key',
  values: 'the body holds too many values',
  depth: 'the body nests too deep',
};

async function parse(body: Buffer): Promise<Record<string, unknown>> {
  const payload = await parseInSlices(body, DELIVERY_LIMITS).catch((error: unknown) => {
    throw error instanceof JsonRefused ? new PayloadError(REFUSALS[error.fault]) : error;
  });
  if (!isRecord(payload.value)) throw new PayloadError('the body is not an object');
  return payload.value;
}

/** What is stored and told by itself, each written in one go: one that is beyond this is a fault, and no other. */
function bounded(part: Record<string, unknown>): Record<string, unknown> {
  let left = JSON_LIMITS.valuesMax;
  const spend = (value: unknown, depth: number): void => {
    left -= 1;
    if (left < 0) throw new PayloadError('a part holds too many values');
    if (typeof value !== 'object' || value === null) return;
    if (depth > JSON_LIMITS.depthMax) throw new PayloadError('a part nests too deep');
    for (const member of Object.values(value)) spend(member, depth + 1);
  };
  spend(part, 1);
  return part;
}

/** What can be read of each, whatever is the matter with others. */
function eachOf<One, Read>(list: readonly One[], read: (one: One) => Read[], faults: Set<string>): Read[] {
  return list.flatMap((one) => {
    try {
      return read(one);
    } catch (error) {
      noteFault(error, faults);
      return [];
    }
  });
}

function noteFault(error: unknown, faults: Set<string>): undefined {
  if (!(error instanceof PayloadError)) throw error;
  faults.add(error.message);
}

function readEntry(entry: Record<string, unknown>, receivedAt: Date, faults: Set<string>): InboundItem[] {
  const read = ({ value }: Record<string, unknown>) =>
    isRecord(value) ? readValue(value, receivedAt, faults) : [];
  return eachOf(listOf(entry, 'changes'), read, faults);
}

function readValue(value: Record<string, unknown>, receivedAt: Date, faults: Set<string>): InboundItem[] {
  const messages = listOf(value, 'messages');
  const statuses = listOf(value, 'statuses');
  if (messages.length + statuses.length === 0) return [];
  const { metadata } = value;
  const phoneNumberId = textOf(isRecord(metadata) ? metadata : {}, 'phone_number_id');
  const named = listOf(value, 'contacts');
  const contacts = eachOf(named, (contact) => [bounded(contact)], faults);
  const senderAmong = findSenders(contacts);
  // In some countries a number is written in two ways: one contact beside one message is its sender all the same.
  const lone = messages.length === 1 && named.length === 1 ? (contacts[0] ?? null) : null;
  const base = (item: Record<string, unknown>) => ({
    ...{ phoneNumberId, messageId: textOf(item, 'id'), at: momentOf(item, receivedAt) },
  });
  const readMessage = (message: Record<string, unknown>): ReceivedMessage => {
    const contact = senderAmong(message) ?? lone;
    return { kind: 'message', ...base(message), from: senderOf(message, contact), message, contact };
  };
  const readStatus = (status: Record<string, unknown>): MessageStatus => ({
    ...{ kind: 'status', ...base(status), state: textOf(status, 'status'), status },
    recipient: [status.recipient_id, status.recipient_user_id].find((id) => typeof id === 'string') ?? '',
  });
  return [
    ...eachOf(messages, (message) => [readMessage(bounded(message))], faults),
    ...eachOf(statuses, (status) => [readStatus(bounded(status))], faults),
  ];
}

/** The first contact that goes by the number or the id of a message's sender; looked up, since both are thousands. */
function findSenders(contacts: readonly Record<string, unknown>[]) {
  const places = { wa_id: new Map<unknown, number>(), user_id: new Map<unknown, number>() };
  for (const [place, contact] of contacts.entries())
    for (const name of ['wa_id', 'user_id'] as const)
      if (!places[name].has(contact[name])) places[name].set(contact[name], place);
  const placeOf = (name: keyof typeof places, id: unknown) =>
    (typeof id === 'string' && id !== '' ? places[name].get(id) : undefined) ?? contacts.length;
  return ({ from, from_user_id: userId }: Record<string, unknown>) =>
    contacts[Math.min(placeOf('wa_id', from), placeOf('user_id', userId))];
}

/** Who goes by a user name may show no number: then the id that stands for them at this business names them. */
function senderOf(message: Record<string, unknown>, contact: Record<string, unknown> | null): string {
  const ids = [message.from, message.from_user_id, contact?.wa_id, contact?.user_id];
  return textOf({ from: ids.find((id) => id !== undefined && id !== null && id !== '') }, 'from');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(holder: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const list = holder[name];
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list) || !list.every(isRecord))
    throw new PayloadError(`${name} is not a list of objects`);
  return list;
}

const KEY_CHARACTERS_MAX = 512;

/** Text that becomes part of a key: bounded, and nothing that Postgres does not store. */
function textOf(holder: Record<string, unknown>, name: string): string {
  const text = holder[name];
  if (typeof text !== 'string' || text === '' || text.length > KEY_CHARACTERS_MAX)
    throw new PayloadError(`${name} is missing`);
  if (text.includes('\0') || !text.isWellFormed()) throw new PayloadError(`${name} is not text`);
  return text;
}

const SECONDS_MAX = 253_402_300_799;

/** Timestamps are seconds as text; a message without one counts from when it came in. */
function momentOf({ timestamp }: Record<string, unknown>, receivedAt: Date): Date {
  const seconds = Number(timestamp);
  const isMoment =
    (typeof timestamp === 'string' || typeof timestamp === 'number') &&
    timestamp !== '' &&
    Number.isSafeInteger(seconds) &&
    seconds >= 0 &&
    seconds <= SECONDS_MAX;
  return isMoment ? new Date(seconds * 1000) : receivedAt;
}

/** A name to show, as far as Postgres stores it. */
export function contactName(contact: Record<string, unknown> | null): string | null {
  const profile = contact?.profile;
  const name = isRecord(profile) ? profile.name : undefined;
  if (typeof name !== 'string') return null;
  const shown = name.toWellFormed().replaceAll('\0', '').slice(0, KEY_CHARACTERS_MAX).toWellFormed();
  return shown === '' ? null : shown;
}
