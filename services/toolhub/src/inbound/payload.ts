import { JSON_LIMITS } from '@libs/http';
import { type JsonFault, type JsonLimits, JsonRefused, nextTurn, parseInSlices } from '@libs/runtime';

type Fields = Record<string, unknown>;

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
  message: Fields;
  contact: Fields | null;
}

export interface MessageStatus extends ItemBase {
  kind: 'status';
  recipient: string;
  state: string;
  /** The vendor's own object, untouched. */
  status: Fields;
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
  const payload = await parse(body);
  if (typeof payload === 'string') return { items: [], faults: [payload] };
  const reader = new PayloadReader(receivedAt);
  await reader.read(payload);
  return { items: reader.items, faults: [...reader.faults] };
}

/** More than 3 MB of messages have, and no deeper than what can be read and written without a stack of its own. */
const DELIVERY_LIMITS: JsonLimits = { valuesMax: 300_000, depthMax: 1_000 };

const REFUSALS: Partial<Record<JsonFault, string>> = {
  values: 'the body holds too many values',
  depth: 'the body nests too deep',
};

/** Or what is wrong with it. One bad byte or a key that is there twice is the vendor's affair, and loses no message. */
async function parse(body: Buffer): Promise<Fields | string> {
  try {
    const { value } = await parseInSlices(body, DELIVERY_LIMITS, { isLenient: true });
    return isRecord(value) ? value : 'the body is not an object';
  } catch (error) {
    if (error instanceof JsonRefused) return REFUSALS[error.fault] ?? 'the body is not JSON';
    throw error;
  }
}

/** How many values are looked at in one turn of the event loop: a few milliseconds. */
const VALUES_A_TURN = 5_000;

/**
 * Reads what can be read of each part, whatever is the matter with others. Faults are noted and not thrown: an error with
 * its stack for each of a hundred thousand parts took a second.
 */
class PayloadReader {
  readonly items: InboundItem[] = [];
  readonly faults = new Set<string>();
  readonly #receivedAt: Date;
  #valuesLeft = VALUES_A_TURN;

  constructor(receivedAt: Date) {
    this.#receivedAt = receivedAt;
  }

  async read(payload: Fields): Promise<void> {
    for (const entry of this.#listOf(payload, 'entry')) {
      if (this.#isTurnOver()) await nextTurn();
      for (const { value } of this.#listOf(entry, 'changes')) {
        if (this.#isTurnOver()) await nextTurn();
        if (isRecord(value)) await this.#readValue(value);
      }
    }
  }

  async #readValue(value: Fields): Promise<void> {
    const messages = this.#listOf(value, 'messages');
    const statuses = this.#listOf(value, 'statuses');
    if (messages.length + statuses.length === 0) return;
    const { metadata } = value;
    const phoneNumberId = isRecord(metadata) ? metadata.phone_number_id : undefined;
    if (!isKeyText(phoneNumberId)) {
      this.#note(faultOf('phone_number_id', phoneNumberId));
      return;
    }
    const given: Given = { phoneNumberId, receivedAt: this.#receivedAt };
    const named = this.#listOf(value, 'contacts');
    const contacts = new Contacts();
    for (const contact of named) {
      if (this.#isTurnOver()) await nextTurn();
      if (this.#fits(contact)) contacts.add(contact);
    }
    // In some countries a number is written in two ways: one contact beside one message is its sender all the same.
    const lone = messages.length === 1 && named.length === 1 ? contacts.first : null;
    for (const message of messages) {
      if (this.#isTurnOver()) await nextTurn();
      if (this.#fits(message)) this.#keep(messageFrom(message, contacts.senderOf(message) ?? lone, given));
    }
    for (const status of statuses) {
      if (this.#isTurnOver()) await nextTurn();
      if (this.#fits(status)) this.#keep(statusFrom(status, given));
    }
  }

  /** Asked before each part: whether others have their turn first. */
  #isTurnOver(): boolean {
    this.#valuesLeft -= 1;
    if (this.#valuesLeft > 0) return false;
    this.#valuesLeft = VALUES_A_TURN;
    return true;
  }

  #keep(item: InboundItem | string): void {
    if (typeof item === 'string') this.#note(item);
    else this.items.push(item);
  }

  #note(fault: string): void {
    this.faults.add(fault);
  }

  #listOf(holder: Fields, name: string): readonly Fields[] {
    const list = holder[name];
    if (list === undefined || list === null) return [];
    if (Array.isArray(list) && list.every(isRecord)) return list;
    this.#note(`${name} is not a list of objects`);
    return [];
  }

  /** What is stored and told by itself is written in one go: one that is too much for that is a fault, and no other. */
  #fits(part: Fields): boolean {
    let left = JSON_LIMITS.valuesMax;
    const faultIn = (value: unknown, depth: number): string | undefined => {
      left -= 1;
      if (left < 0) return 'a part holds too many values';
      if (typeof value !== 'object' || value === null) return undefined;
      if (depth > JSON_LIMITS.depthMax) return 'a part nests too deep';
      for (const member of Object.values(value)) {
        const fault = faultIn(member, depth + 1);
        if (fault !== undefined) return fault;
      }
      return undefined;
    };
    const fault = faultIn(part, 1);
    this.#valuesLeft -= JSON_LIMITS.valuesMax - left;
    if (fault !== undefined) this.#note(fault);
    return fault === undefined;
  }
}

/** What an item has beside what it says of itself. */
interface Given {
  phoneNumberId: string;
  receivedAt: Date;
}

/** Or what is wrong with it. */
function messageFrom(message: Fields, contact: Fields | null, given: Given): ReceivedMessage | string {
  const { id } = message;
  const from = senderIdOf(message, contact);
  if (!isKeyText(id)) return faultOf('id', id);
  if (!isKeyText(from)) return faultOf('from', from);
  const { phoneNumberId, receivedAt } = given;
  const at = momentOf(message, receivedAt);
  return { kind: 'message', phoneNumberId, messageId: id, at, from, message, contact };
}

/** Or what is wrong with it. */
function statusFrom(status: Fields, { phoneNumberId, receivedAt }: Given): MessageStatus | string {
  const { id, status: state } = status;
  if (!isKeyText(id)) return faultOf('id', id);
  if (!isKeyText(state)) return faultOf('status', state);
  const ids = [status.recipient_id, status.recipient_user_id];
  const recipient = ids.find((each) => typeof each === 'string') ?? '';
  const at = momentOf(status, receivedAt);
  return { kind: 'status', phoneNumberId, messageId: id, at, recipient, state, status };
}

/** The contacts of a delivery by what they go by; looked up, since they and the messages are thousands. */
class Contacts {
  readonly #contacts: Fields[] = [];
  readonly #places = { wa_id: new Map<string, number>(), user_id: new Map<string, number>() };

  get first(): Fields | null {
    return this.#contacts[0] ?? null;
  }

  add(contact: Fields): void {
    for (const name of ['wa_id', 'user_id'] as const) {
      const id = contact[name];
      if (isKeyText(id) && !this.#places[name].has(id)) this.#places[name].set(id, this.#contacts.length);
    }
    this.#contacts.push(contact);
  }

  /** The first that goes by the number or the id of a message's sender. */
  senderOf({ from, from_user_id: userId }: Fields): Fields | undefined {
    return this.#contacts[Math.min(this.#placeOf('wa_id', from), this.#placeOf('user_id', userId))];
  }

  #placeOf(name: 'wa_id' | 'user_id', id: unknown): number {
    return (isKeyText(id) ? this.#places[name].get(id) : undefined) ?? this.#contacts.length;
  }
}

/** Who goes by a user name may show no number: then the id that stands for them at this business names them. */
function senderIdOf(message: Fields, contact: Fields | null): unknown {
  const ids = [message.from, message.from_user_id, contact?.wa_id, contact?.user_id];
  return ids.find((id) => id !== undefined && id !== null && id !== '');
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const KEY_CHARACTERS_MAX = 512;

/** Text that becomes part of a key: bounded, and nothing that Postgres does not store. */
function isKeyText(text: unknown): text is string {
  return isKeyLong(text) && !text.includes('\0') && text.isWellFormed();
}

function isKeyLong(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= KEY_CHARACTERS_MAX;
}

/** What is wrong with what is no such text. */
function faultOf(name: string, value: unknown): string {
  return isKeyLong(value) ? `${name} is not text` : `${name} is missing`;
}

const SECONDS_MAX = 253_402_300_799;

/** Timestamps are seconds as text; a message without one counts from when it came in. */
function momentOf({ timestamp }: Fields, receivedAt: Date): Date {
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
export function contactName(contact: Fields | null): string | null {
  const profile = contact?.profile;
  const name = isRecord(profile) ? profile.name : undefined;
  if (typeof name !== 'string') return null;
  const shown = name.toWellFormed().replaceAll('\0', '').slice(0, KEY_CHARACTERS_MAX).toWellFormed();
  return shown === '' ? null : shown;
}
