// WhatsApp's connector against a server of its published contract. What it reads from the store is tried beside it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { createWhatsappConnector } from '../../../services/toolhub/src/connectors/whatsapp/connector.ts';
import { tryFaults } from '../connector-faults.ts';
import { graphMeanings, graphRefusal, tokenOver } from '../graph.ts';
import { platformTrial } from '../platform-trial.ts';
import { BUSINESS, startWhatsapp, type WhatsappServer } from './server.ts';

const TOKEN = 'EAAGsecretOfWhatsapp';
const NUMBER = '106540352242922';
const PERSON = '16315551234';
const MESSAGE = 'wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQz+/8=';
const connector = createWhatsappConnector();
let server: WhatsappServer;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ access_token: TOKEN, phone_number_id: NUMBER, business_account_id: BUSINESS }),
);

beforeAll(async () => {
  server = await startWhatsapp();
  server.tokens.set(TOKEN, NUMBER);
  server.open.add(PERSON);
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

describe('tools', () => {
  it('sends text, templates and files with the words of the documentation', async () => {
    const base = { messaging_product: 'whatsapp', recipient_type: 'individual', to: PERSON };
    expect(
      await call('whatsapp_send_message', { to: `+${PERSON}`, text: 'hello', reply_to_message_id: MESSAGE }),
    ).toMatchObject({ id: expect.stringMatching(/^wamid\./), contact: PERSON });
    expect(server.received.at(-1)).toMatchObject({
      ...{ method: 'POST', path: `/${NUMBER}/messages`, headers: { authorization: `Bearer ${TOKEN}` } },
      raw: JSON.stringify({
        ...{ ...base, context: { message_id: MESSAGE }, type: 'text' },
        text: { preview_url: false, body: 'hello' },
      }),
    });
    const components = [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }];
    await call('whatsapp_send_template', {
      ...{ to: '4915112345678', template_name: 'hello_world', language: 'en_US', components },
    });
    expect(server.sent.at(-1)).toMatchObject({
      ...{ type: 'template', template: { name: 'hello_world', language: { code: 'en_US' }, components } },
    });
    await call('whatsapp_send_media', {
      to: PERSON,
      kind: 'image',
      url: 'https://example.com/a.png',
      caption: 'see',
    });
    expect(server.sent.at(-1)).toMatchObject({
      image: { link: 'https://example.com/a.png', caption: 'see' },
    });
    await call('whatsapp_send_media', { to: PERSON, kind: 'audio', media_id: '1234' });
    expect(server.sent.at(-1)).toMatchObject({ type: 'audio', audio: { id: '1234' } });
  });

  it.each(['US.13491208655302741918', 'US.ENT.11815799212886844830'])(
    'writes to somebody who shows no phone number: %s',
    async (id) => {
      server.open.add(id);
      expect(await call('whatsapp_send_message', { to: id, text: 'hello' })).toMatchObject({ contact: id });
      const sent = server.sent.at(-1);
      expect(sent).toMatchObject({ recipient: id, recipient_type: 'individual', text: { body: 'hello' } });
      expect(sent).not.toHaveProperty('to');
    },
  );

  it('says of a template that WhatsApp holds it back, and may never send it', async () => {
    const args = { to: PERSON, template_name: 'hello_world', language: 'en_US' };
    for (const status of ['accepted', 'held_for_quality_assessment', 'paused', null]) {
      const message = { id: 'wamid.1', ...(status === null ? {} : { message_status: status }) };
      const json = { contacts: [{ input: PERSON, wa_id: PERSON }], messages: [message] };
      server.failNext({ kind: 'reply', reply: { json } });
      expect(await call('whatsapp_send_template', args)).toEqual({ id: 'wamid.1', contact: PERSON, status });
    }
  });

  it('takes one file and no caption where there is none', async () => {
    for (const bad of [
      { kind: 'image' },
      { kind: 'image', url: 'https://example.com/a.png', media_id: '1' },
      { kind: 'audio', media_id: '1', caption: 'x' },
      { kind: 'image', url: 'http://example.com/a.png' },
    ])
      await expect(call('whatsapp_send_media', { to: PERSON, ...bad })).rejects.toMatchObject({
        code: 'invalid_arguments',
      });
  });

  it('says why a person cannot be written to, with the code and the details of WhatsApp', async () => {
    await expect(call('whatsapp_send_message', { to: '4915112345678', text: 'x' })).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: '131047' },
      message: expect.stringContaining('More than 24 hours'),
    });
  });

  it('lists templates page by page, and marks messages as read', async () => {
    const found = await all<{ name: string }>('whatsapp_list_templates', { limit: 2 });
    expect(found.map(({ name }) => name)).toEqual(['hello_world', 'order_shipped', 'invoice_due']);
    expect(await call('whatsapp_mark_read', { message_id: MESSAGE })).toEqual({
      message_id: MESSAGE,
      read: true,
    });
    expect([...server.read]).toEqual([MESSAGE]);
  });

  it('waits as long as Graph names, in minutes, where there is no Retry-After', async () => {
    const usage = { 1: [{ type: 'messages', estimated_time_to_regain_access: 3 }] };
    const headers = { 'x-business-use-case-usage': JSON.stringify(usage) };
    server.failNext({ kind: 'reply', reply: { ...graphRefusal(400, 80_007, 'Too many'), headers } });
    await expect(call('whatsapp_list_templates', {})).rejects.toMatchObject({ retryAfterSeconds: 180 });
    const broken = { ...graphRefusal(400, 4, 'Too many'), headers: { 'x-business-use-case-usage': '{' } };
    server.failNext({ kind: 'reply', reply: broken });
    await expect(call('whatsapp_list_templates', {})).rejects.toMatchObject({ retryAfterSeconds: 60 });
  });

  it('receives nothing for an account of the settings, and says so', async () => {
    const internal = context({ customerId: null });
    await expect(call('whatsapp_list_conversations', {}, internal)).rejects.toMatchObject({
      platformCode: 'not_received',
    });
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    local: ['whatsapp_list_conversations', 'whatsapp_get_messages'],
    samples: {
      whatsapp_list_templates: () => ({}),
      whatsapp_send_message: () => ({ to: PERSON, text: 'hello', reply_to_message_id: MESSAGE }),
      whatsapp_send_template: () => ({ to: PERSON, template_name: 'hello_world', language: 'en_US' }),
      whatsapp_send_media: () => ({ to: PERSON, kind: 'image', media_id: '1234' }),
      whatsapp_mark_read: () => ({ message_id: MESSAGE }),
    },
    tokenRefusal: tokenOver,
    meanings: graphMeanings,
    slowDown: {
      reply: { ...graphRefusal(400, 130_429, 'Rate limit hit'), headers: { 'retry-after': '17' } },
      seconds: 17,
    },
    refusal: { reply: graphRefusal(400, 131_031, `Account locked ${TOKEN}`), code: '131031' },
    secrets: [TOKEN],
  });
});
