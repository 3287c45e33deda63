import { strict as assert } from 'node:assert';
import { readUpdates } from '../../../services/toolhub/src/connectors/telegram/updates.ts';
import { createPostReader } from '../../../services/toolhub/src/connectors/vendor-api/plain-text.ts';
import { discordApp } from '../../../services/toolhub/src/inbound/apps/discord.ts';
import { slackApp } from '../../../services/toolhub/src/inbound/apps/slack.ts';
import { PayloadError, readPayload } from '../../../services/toolhub/src/inbound/payload.ts';
import { KIB, type Target } from '../fuzz.ts';
import { expecting } from './expecting.ts';

export const whatsapp: Target = {
  name: 'whatsapp',
  words: [
    '"entry":[',
    '"changes":[',
    '"value":{',
    '"messages":[',
    '"statuses":[',
    '"timestamp":"',
    '}',
    ']',
    ',',
    '"id":"wamid.A"',
  ],
  bytesMax: 256 * KIB,
  async run(input) {
    await readPayload(input, new Date(0));
  },
};

/** What Telegram, Slack and Discord send by themselves, and the HTML of a post. */
export const arrivals: Target = {
  name: 'arrivals',
  words: [
    ...['"update_id":', '"message":{', '"edited_message":{', '"chat":{', '"date":', '"event":{', '"type":2'],
    ...[
      '"authorizations":[',
      '"ts":"1.000001"',
      '"member":{',
      '"data":{',
      '<p>',
      '</p><p>',
      '<li',
      '&#x',
      '&amp;',
    ],
    ...['\\u0000', '\\ud800', '}', ']', ','],
  ],
  bytesMax: 256 * KIB,
  async run(input) {
    const text = input.toString('utf8');
    assert((await createPostReader()(text)).length <= text.length + 1, 'longer than it was');
    let payload: unknown;
    try {
      payload = JSON.parse(text);
    } catch {
      return;
    }
    for (const { message } of readUpdates([payload]))
      assert(!JSON.stringify(message).includes('\\u0000'), 'what no database stores');
    for (const app of [slackApp('secret'), discordApp(['0'.repeat(64)])])
      expecting(PayloadError, () => {
        app.receive(payload, input);
        for (const { key, at } of app.read(payload, new Date(0)))
          assert(key.length > 0 && !Number.isNaN(at.getTime()), 'not a message');
      });
  },
};
