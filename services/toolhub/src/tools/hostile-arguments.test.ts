// Arguments that try another host, path, header or account, in every tool and every field that is no text of its own: they
// are refused by the tool's schema, before anything is sent. The schema is asked alone, so the test costs nothing.
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../connectors/email/addresses.ts';
import { createConnectors } from '../connectors/index.ts';

const HOSTILE = [
  ...['../../admin', '..', '.', './x', 'a/b', 'a\\b', 'a%2fb', 'a%2Fb', '%2e%2e', '..%00'],
  ...['a\r\nx: y', 'a\nb', 'a\u0000', 'a\u2028b', 'a b', 'a?b=c', 'a#b', 'a;b', 'a&b=c'],
  ...['http://evil.test/', '//evil.test', 'evil.test:80', 'user@evil.test:80', 'javascript:alert(1)'],
  ...['\u202eabc', '\u0430dmin', '１２３', 'ａ', '\ud800', '', ' ', `${'a'.repeat(5_000)}`],
];

/** What people say, or look for: nothing of it leads anywhere. */
const FREE_TEXT = /^(text|html|query|subject|caption|content|message|spoiler_text)$/;
/** Names that the account's own server gives, or gets; they travel as one quoted word of a mail server's command. */
const MAIL_NAMES = /^email_\w+ (folder|target_folder|parent_folder|name|from|to)$/;
const ADDRESSES = /^email_(send_message|create_draft) (to|cc|bcc)$/;
/** What a field takes although it looks hostile, with the reason. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  // The name of a thread is text.
  'discord_create_thread name': HOSTILE,
  // Tags are words of any script.
  'mastodon_get_timeline tag': ['\u0430dmin', '１２３', 'ａ'],
  // Workspaces name their emoji in any script, and the name travels in the body.
  'slack_add_reaction emoji': ['\u0430dmin', '１２３', 'ａ'],
  // An address that the vendor fetches by itself; Telegram takes plain http.
  'telegram_send_media url': ['http://evil.test/'],
};

interface StringField {
  name: string;
  field: string;
  schema: TSchema;
}

function stringFields(): StringField[] {
  return createConnectors().flatMap(({ tools }) =>
    tools.flatMap(({ name, inputSchema }) =>
      Object.entries(inputSchema.properties as Record<string, TSchema & { items?: TSchema }>).flatMap(
        ([field, schema]) => {
          const own = (schema.items ?? schema) as TSchema & { type?: string; anyOf?: { type?: string }[] };
          const isText = own.type === 'string' || own.anyOf?.some(({ type }) => type === 'string') === true;
          return isText && !FREE_TEXT.test(field) ? [{ name, field, schema: own }] : [];
        },
      ),
    ),
  );
}

const fields = stringFields();
const ids = fields.filter(({ name, field }) => {
  const place = `${name} ${field}`;
  return !MAIL_NAMES.test(place) && !ADDRESSES.test(place);
});

test('[TH-6.12] every tool with an id is tried', () => {
  expect(ids.length).toBeGreaterThan(50);
});

test.each(ids)('[TH-6.12] $name: $field leads nowhere else', ({ name, field, schema }) => {
  const check = Compile(schema);
  const taken = new Set(TAKEN[`${name} ${field}`] ?? []);
  expect(HOSTILE.filter((value) => check.Check(value) && !taken.has(value))).toEqual([]);
});

describe('[TH-6.12] e-mail', () => {
  const breaks = HOSTILE.filter((value) => ['\r', '\n', '\0'].some((mark) => value.includes(mark)));
  const names = fields.filter(({ name, field }) => MAIL_NAMES.test(`${name} ${field}`));

  test.each(names)('$name: $field cannot end its command', ({ schema }) => {
    const check = Compile(schema);
    for (const value of breaks) expect(check.Check(value), JSON.stringify(value)).toBe(false);
  });

  test('an address is one mailbox, or nothing is sent', () => {
    const several = [
      'a@b.test, c@d.test',
      'a@b.test c@d.test',
      '<a@b.test> <c@d.test>',
      'x <a@b.test> c@d.test',
    ];
    for (const value of [...HOSTILE, ...several, 'a@b.test\r\nBcc: x@y.test', 'Group: a@b.test;'])
      expect(parseAddress(value), JSON.stringify(value)).toBeUndefined();
  });
});
