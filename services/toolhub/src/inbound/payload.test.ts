import { describe, expect, test } from 'vitest';
import { contactName, PayloadError, payloadKey, readPayload } from './payload.ts';

const receivedAt = new Date('2026-10-05T10:00:00Z');
const read = (payload: unknown) => readPayload(Buffer.from(JSON.stringify(payload)), receivedAt);
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
    const items = readPayload(
      Buffer.from(
        JSON.stringify({
          entry: [
            { changes: [{ value: { metadata, messages: [message] } }, { value: second }] },
            { changes: [{ field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } }] },
          ],
        }),
      ),
      receivedAt,
    );
    expect(items.map(({ phoneNumberId }) => phoneNumberId)).toEqual(['106', '107']);
    expect(items[1]).toMatchObject({ contact: null, at: receivedAt });
  });

  test('one contact beside one message is its sender, however its number is written', () => {
    const contact = { profile: { name: 'Ada' }, wa_id: '5215512345678' };
    const value = { metadata, contacts: [contact], messages: [{ ...message, from: '525512345678' }] };
    expect(read(change(value))).toMatchObject([{ from: '525512345678', contact }]);
  });

  test('what is not a delivery is a problem, not an empty one', () => {
    for (const body of ['', '{', 'null', '[]', '"x"', '{"entry":{}}', '{"entry":[1]}'])
      expect(() => readPayload(Buffer.from(body), receivedAt), body).toThrow(PayloadError);
    for (const value of [
      { messages: [message] },
      { metadata, messages: [{ ...message, id: '' }] },
      { metadata, messages: [{ ...message, id: 'a\0b' }] },
      { metadata, messages: [{ ...message, id: 'x'.repeat(600) }] },
      { metadata, messages: [{ ...message, from: 4915 }] },
      { metadata, statuses: [{ id: 'wamid.B' }] },
    ])
      expect(() => read(change(value))).toThrow(PayloadError);
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
