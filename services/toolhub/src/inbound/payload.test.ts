import { longestTurnMs } from '@libs/runtime/testing';
import { describe, expect, test } from 'vitest';
import { contactName, payloadKey, readPayload } from './payload.ts';

const receivedAt = new Date('2026-10-05T10:00:00Z');
const readBody = (body: string) => readPayload(Buffer.from(body), receivedAt);
const read = async (payload: unknown) => {
  const { items, faults } = await readBody(JSON.stringify(payload));
  expect(faults).toEqual([]);
  return items;
};
const change = (value: unknown) => ({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] });
const metadata = { display_phone_number: '15550001', phone_number_id: '106' };
const message = { from: '4915', id: 'wamid.A', timestamp: '1791200000', type: 'text', text: { body: 'Hi' } };

describe('what a delivery holds', () => {
  test('messages with the contact that sent them, and statuses, in order', async () => {
    const contact = { profile: { name: 'Ada' }, wa_id: '4915' };
    const status = { id: 'wamid.B', status: 'read', timestamp: '1791200001', recipient_id: '4916' };
    const items = await read(
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

  test('several numbers in one delivery; a message without a contact or a timestamp', async () => {
    const second = { metadata: { phone_number_id: '107' }, messages: [{ from: '1', id: 'wamid.C' }] };
    const items = await read({
      entry: [
        { changes: [{ value: { metadata, messages: [message] } }, { value: second }] },
        { changes: [{ field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } }] },
      ],
    });
    expect(items.map(({ phoneNumberId }) => phoneNumberId)).toEqual(['106', '107']);
    expect(items[1]).toMatchObject({ contact: null, at: receivedAt });
  });

  test('one contact beside one message is its sender, however its number is written', async () => {
    const contact = { profile: { name: 'Ada' }, wa_id: '5215512345678' };
    const value = { metadata, contacts: [contact], messages: [{ ...message, from: '525512345678' }] };
    expect(await read(change(value))).toMatchObject([{ from: '525512345678', contact }]);
  });

  test('a sender who shows no number is known by the id that there is', async () => {
    const { from: _, ...hidden } = message;
    const ada = { profile: { name: 'Ada' }, user_id: 'DE.1' };
    const bob = { profile: { name: 'Bob' }, user_id: 'DE.2' };
    const sent = { ...hidden, from_user_id: 'DE.2' };
    expect(await read(change({ metadata, contacts: [ada, bob], messages: [sent] }))).toMatchObject([
      { from: 'DE.2', message: sent, contact: bob },
    ]);
    const lone = (contact: object) => change({ metadata, contacts: [contact], messages: [hidden] });
    expect(await read(lone({ ...ada, wa_id: '4915' }))).toMatchObject([{ from: '4915' }]);
    expect(await read(lone(ada))).toMatchObject([{ from: 'DE.1', contact: ada }]);
    const status = { id: 'wamid.B', status: 'read', recipient_user_id: 'DE.2' };
    expect(await read(change({ metadata, statuses: [status] }))).toMatchObject([{ recipient: 'DE.2' }]);
  });

  test('what lacks something keeps back nothing that came with it', async () => {
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
    const { items, faults } = await readBody(JSON.stringify(body));
    expect(items.map(payloadKey)).toEqual(['wamid.A', 'wamid.B read']);
    expect(faults).toEqual([
      'phone_number_id is missing',
      'changes is not a list of objects',
      'from is missing',
      'id is missing',
      'status is missing',
    ]);
  });

  test('[TH-13.14] a message that nests too deep or holds too much keeps back nothing that came with it', async () => {
    const deep = JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`);
    const many = Array.from({ length: 30_000 }, () => 0);
    const contacts = [{ wa_id: '4915', deep }];
    const messages = [{ ...message, id: 'wamid.X', deep }, { ...message, id: 'wamid.Y', many }, message];
    const statuses = [{ id: 'wamid.B', status: 'read', deep }];
    const body = JSON.stringify(change({ metadata, contacts, messages, statuses }));
    const { items, faults } = await readBody(body);
    expect(items).toMatchObject([{ messageId: 'wamid.A', contact: null }]);
    expect(faults).toEqual(['a part nests too deep', 'a part holds too many values']);
  });

  test('[TH-13.14] a delivery beyond all measure is a problem, one as large as WhatsApp sends is not', async () => {
    const deep = `{"entry":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    expect(await readBody(deep)).toEqual({ items: [], faults: ['the body nests too deep'] });
    const many = JSON.stringify({ entry: [], more: Array.from({ length: 400_000 }, () => 0) });
    expect(await readBody(many)).toEqual({ items: [], faults: ['the body holds too many values'] });
    const messages = Array.from({ length: 20_000 }, (_, n) => ({
      ...message,
      id: `wamid.${n}`,
      from: `${n}`,
    }));
    const contacts = messages.map(({ from }) => ({ profile: { name: from }, wa_id: from }));
    const items = await read(change({ metadata, messages, contacts }));
    expect(items).toHaveLength(20_000);
    expect(items.at(-1)).toMatchObject({ from: '19999', contact: { profile: { name: '19999' } } });
  });

  test.each([
    ['messages', ['{}', 'id is missing']],
    ['statuses', ['{}', 'id is missing']],
    ['messages', ['{"id":"a"}', 'from is missing']],
  ])('[TH-13.14] a hundred thousand %s with faults (%j) hold up nobody', async (name, [part, fault]) => {
    const parts = Array.from({ length: part === '{}' ? 149_000 : 99_000 }, () => part).join();
    const body = JSON.stringify(change({ metadata, [name]: [] })).replace(`"${name}":[`, `$&${parts}`);
    const read = await readBody(body);
    expect(read).toEqual({ items: [], faults: [fault] });
    expect(await longestTurnMs(() => readBody(body))).toBeLessThan(100);
  });

  test('[TH-13.14] a hundred thousand messages, or what should be some, are read in turns', async () => {
    const ids = Array.from({ length: 70_000 }, (_, n) => `{"id":"${n}","from":"1"}`).join();
    const bodies = [
      `{"entry":[${'{},'.repeat(148_000)}{}]}`,
      `{"entry":[{"changes":[${'{"value":{}},'.repeat(99_000)}{}]}]}`,
      `{"entry":[{"changes":[{"value":{"metadata":{"phone_number_id":"1"},"messages":[${ids}]}}]}]}`,
    ];
    for (const body of bodies) expect(await longestTurnMs(() => readBody(body))).toBeLessThan(100);
  });

  test('a byte that is no text, or a key that is there twice, loses nothing', async () => {
    const body = JSON.stringify(change({ metadata, messages: [message], statuses: [] }));
    const twice = body.replace('"id":"wamid.A"', '"id":"wamid.0","id":"wamid.A"');
    expect(await readBody(twice)).toEqual(await readBody(body));
    const [before = '', after = ''] = body.split('Hi');
    const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0x48, 0xff, 0xc3]), Buffer.from(after)]);
    expect(await readPayload(bytes, receivedAt)).toEqual(await readBody(body.replace('Hi', 'H\ufffd\ufffd')));
  });

  test('what should be a list and is none keeps back nothing beside it', async () => {
    const { items, faults } = await readBody(
      JSON.stringify(change({ metadata, contacts: 'none', messages: [message], statuses: [1] })),
    );
    expect(items.map(payloadKey)).toEqual(['wamid.A']);
    expect(faults).toEqual(['statuses is not a list of objects', 'contacts is not a list of objects']);
  });

  test('what is not a delivery is a problem, not an empty one', async () => {
    for (const body of ['', '{', 'null', '[]', '"x"', '{"entry":{}}', '{"entry":[1]}'])
      expect(await readBody(body), body).toEqual({ items: [], faults: [expect.any(String)] });
    for (const value of [
      { messages: [message] },
      { metadata, messages: [{ ...message, id: '' }] },
      { metadata, messages: [{ ...message, id: 'a\0b' }] },
      { metadata, messages: [{ ...message, id: 'x'.repeat(600) }] },
      { metadata, messages: [{ ...message, from: 4915 }] },
      { metadata, messages: [{ ...message, from: undefined }] },
      { metadata, statuses: [{ id: 'wamid.B' }] },
    ])
      expect(await readBody(JSON.stringify(change(value)))).toEqual({
        items: [],
        faults: [expect.any(String)],
      });
    expect(await read({ object: 'whatsapp_business_account' })).toEqual([]);
  });

  test('odd timestamps count from when the message came in', async () => {
    for (const timestamp of ['', 'soon', '-1', '1e99', '99999999999999', {}, null])
      expect(await read(change({ metadata, messages: [{ ...message, timestamp }] }))).toMatchObject([
        { at: receivedAt },
      ]);
  });

  test('names are brought to what can be stored', () => {
    expect(contactName({ profile: { name: 'Zoë 🎉' } })).toBe('Zoë 🎉');
    expect(contactName({ profile: { name: 'a\0b\ud83d' } })).toBe('ab\ufffd');
    expect(contactName({ profile: {} })).toBeNull();
    expect(contactName(null)).toBeNull();
  });
});
