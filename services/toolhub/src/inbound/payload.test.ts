import { describe, expect, test } from 'vitest';
import { contactName, payloadKey, readPayload } from './payload.ts';

const receivedAt = new Date('2026-10-05T10:00:00Z');
const readBody = (body: string) => readPayload(Buffer.from(body), receivedAt);
const read = (payload: unknown) => {
  const { items, faults } = readBody(JSON.stringify(payload));
  expect(faults).toEqual([]);
  return items;
};
const change = (value: unknown) => ({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] });
const metadata = { display_phone_number: '15550001', phone_number_id: '106' };
const message = { from: '4915', id: 'wamid.A', timestamp: '1791200000', type: 'text', text: { body: 'Hi' } };

describe('what a delivery holds', () => {
  test('messages with the contact that sent them, and statuses, in order', () => {
    const contact = { profile: { name: 'Ada' }, wa_id: '4915' };
    const status = { id: 'wamid.B', status: 'read', timestamp: '1791200001', recipient_id: '4916' };
    const items = read(
      change({ metadata, contacts: [{ wa_id: '1' }, contact], messages: [message], statuses: [status] }),
    );
    expect(items).toEqual([
      {
        ...{ kind: 'message', phoneNumberId: '106', messageId: 'wamid.A', from: '4915', message, contact },
        at: new Date(1_791_200_000_000),
      },
      {
        ...{
          kind: 'status',
          phoneNumberId: '106',
          messageId: 'wamid.B',
          recipient: '4916',
          state: 'read',
          status,
        },
        at: new Date(1_791_200_001_000),
      },
    ]);
    expect(items.map(payloadKey)).toEqual(['wamid.A', 'wamid.B read']);
  });

  test('several numbers in one delivery; a message without a contact or a timestamp', () => {
    const second = { metadata: { phone_number_id: '107' }, messages: [{ from: '1', id: 'wamid.C' }] };
    const items = read({
      entry: [
        { changes: [{ value: { metadata, messages: [message] } }, { value: second }] },
        { changes: [{ field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } }] },
      ],
    });
    expect(items.map(({ phoneNumberId }) => phoneNumberId)).toEqual(['106', '107']);
    expect(items[1]).toMatchObject({ contact: null, at: receivedAt });
  });

  test('one contact beside one message is its sender, however its number is written', () => {
    const contact = { profile: { name: 'Ada' }, wa_id: '5215512345678' };
    const value = { metadata, contacts: [contact], messages: [{ ...message, from: '525512345678' }] };
    expect(read(change(value))).toMatchObject([{ from: '525512345678', contact }]);
  });

  test('a sender who shows no number is known by the id that there is', () => {
    const { from: _, ...hidden } = message;
    const ada = { profile: { name: 'Ada' }, user_id: 'DE.1' };
    const bob = { profile: { name: 'Bob' }, user_id: 'DE.2' };
    const sent = { ...hidden, from_user_id: 'DE.2' };
    expect(read(change({ metadata, contacts: [ada, bob], messages: [sent] }))).toMatchObject([
      { from: 'DE.2', message: sent, contact: bob },
    ]);
    const lone = (contact: object) => change({ metadata, contacts: [contact], messages: [hidden] });
    expect(read(lone({ ...ada, wa_id: '4915' }))).toMatchObject([{ from: '4915' }]);
    expect(read(lone(ada))).toMatchObject([{ from: 'DE.1', contact: ada }]);
    const status = { id: 'wamid.B', status: 'read', recipient_user_id: 'DE.2' };
    expect(read(change({ metadata, statuses: [status] }))).toMatchObject([{ recipient: 'DE.2' }]);
  });

  test('what lacks something keeps back nothing that came with it', () => {
    const entry = (value: unknown) => ({ changes: [{ value }] });
    const body = {
      entry: [
        entry({ messages: [message] }),
        { changes: 'none' },
        entry({
          metadata,
          messages: [{ id: 'wamid.X' }, message, { from: '1' }, { id: 'wamid.Y' }],
          statuses: [{ id: 'wamid.B' }, { id: 'wamid.B', status: 'read' }],
        }),
      ],
    };
    const { items, faults } = readBody(JSON.stringify(body));
    expect(items.map(payloadKey)).toEqual(['wamid.A', 'wamid.B read']);
    expect(faults).toEqual([
      'phone_number_id is missing',
      'changes is not a list of objects',
      'from is missing',
      'id is missing',
      'status is missing',
    ]);
  });

  test('what is not a delivery is a problem, not an empty one', () => {
    for (const body of ['', '{', 'null', '[]', '"x"', '{"entry":{}}', '{"entry":[1]}'])
      expect(readBody(body), body).toEqual({ items: [], faults: [expect.any(String)] });
    for (const value of [
      { messages: [message] },
      { metadata, messages: [{ ...message, id: '' }] },
      { metadata, messages: [{ ...message, id: 'a\0b' }] },
      { metadata, messages: [{ ...message, id: 'x'.repeat(600) }] },
      { metadata, messages: [{ ...message, from: 4915 }] },
      { metadata, messages: [{ ...message, from: undefined }] },
      { metadata, statuses: [{ id: 'wamid.B' }] },
    ])
      expect(readBody(JSON.stringify(change(value)))).toEqual({ items: [], faults: [expect.any(String)] });
    expect(read({ object: 'whatsapp_business_account' })).toEqual([]);
  });

  test('odd timestamps count from when the message came in', () => {
    for (const timestamp of ['', 'soon', '-1', '1e99', '99999999999999', {}, null])
      expect(read(change({ metadata, messages: [{ ...message, timestamp }] }))[0]?.at).toEqual(receivedAt);
  });

  test('names are brought to what can be stored', () => {
    expect(contactName({ profile: { name: 'Zoë 🎉' } })).toBe('Zoë 🎉');
    expect(contactName({ profile: { name: 'a\0b\ud83d' } })).toBe('ab\ufffd');
    expect(contactName({ profile: {} })).toBeNull();
    expect(contactName(null)).toBeNull();
  });
});
