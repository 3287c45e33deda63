// All vendors at once, each with an account of the same person and something to read, for people who want to try every
// tool without an account anywhere.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startInProcessMail } from '../../services/toolhub/src/connectors/email/test/in-process-mail-server.ts';
import { startBotApi } from '../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { startBluesky } from './bluesky/server.ts';
import { startDiscord } from './discord/server.ts';
import { PAGES, PERSON, startFacebook } from './facebook/server.ts';
import { startInstagram } from './instagram/server.ts';
import { startLinkedin } from './linkedin/server.ts';
import { startMastodon } from './mastodon/server.ts';
import { CHANNELS, startSlack } from './slack/server.ts';
import { html } from './vendor-server.ts';
import { BUSINESS, startWhatsapp } from './whatsapp/server.ts';
import { startX } from './x/server.ts';

export interface Everything {
  /** A page that lists the vendors and what each of them received. */
  url: string;
  /** What Toolhub has to be started with to talk to them. */
  environment: Record<string, string>;
  /** What a customer stores to be connected, by platform. */
  credentials: Record<string, unknown>;
  /** Platform → the page that shows what arrived there. */
  pages: Record<string, string>;
  /** Somebody writes by WhatsApp, which sends it on to Toolhub; only then that person can be answered. */
  greet(hub: string): Promise<void>;
  /** The vendors take none of these credentials from here on. */
  revoke(): void;
  stop(): Promise<void>;
}

const TOKEN = 'demo-token-of-ada';
const BOT_TOKEN = '777:AAE_demo-token-of-the-bot-of-ada-0001';
const MAIL = 'ada@mail.test';
const PASSWORD = 'app-password';
const NUMBER = '106540352242922';
const APP_SECRET = 'demo-secret-of-the-app';
const WRITER = '16315551234';
const SHOWN_MAX = 200;

const FIRST_MAIL = [
  ...['From: Bob <bob@mail.test>', `To: Ada <${MAIL}>`, 'Subject: The menu', 'Message-ID: <menu@mail.test>'],
  ...['Date: Mon, 02 Nov 2026 10:00:00 +0000', 'MIME-Version: 1.0'],
  ...[
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'It is attached.',
  ],
  ...['--b', 'Content-Type: text/plain; name=menu.txt', 'Content-Disposition: attachment; filename=menu.txt'],
  ...['Content-Transfer-Encoding: base64', '', 'U291cA==', '--b--', ''],
].join('\r\n');

/** As WhatsApp's documentation shows it. */
const received = (at: Date) =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: BUSINESS,
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '16315555555', phone_number_id: NUMBER },
              contacts: [{ profile: { name: 'Bob' }, wa_id: WRITER }],
              messages: [
                {
                  ...{ from: WRITER, id: 'wamid.HBgLMTYzMTU1NTEyMzQ', type: 'text' },
                  ...{ timestamp: String(Math.floor(at.getTime() / 1_000)), text: { body: 'Are you open?' } },
                },
              ],
            },
          },
        ],
      },
    ],
  });

export async function startEverything(): Promise<Everything> {
  const [slack, discord, x, linkedin, facebook, instagram, whatsapp, bluesky, mastodon, telegram, mail] =
    await Promise.all([
      ...([startSlack(), startDiscord(), startX(), startLinkedin(), startFacebook()] as const),
      ...([startInstagram(), startWhatsapp(), startBluesky(), startMastodon(), startBotApi()] as const),
      startInProcessMail({ users: { [MAIL]: PASSWORD } }),
    ]);

  slack.addUser('U100', 'ada', MAIL);
  slack.addUser('U200', 'bob', 'bob@mail.test');
  slack.tokens.set(TOKEN, { user: 'ada', kind: 'user' });
  slack.addMessage(CHANNELS[0] as string, 'U200', 'Lunch at noon?');
  discord.tokens.set(TOKEN, 'ada-bot');
  x.tokens.set(TOKEN, '100');
  x.addPost('200', 'Hello @ada, how is it going?');
  linkedin.tokens.set(TOKEN, '782bbtaQ');
  facebook.tokens.set(TOKEN, PERSON);
  facebook.addComment(PAGES[0] as string, facebook.addPost(PAGES[0] as string, 'We are open'), 'When?');
  instagram.tokens.set(TOKEN, '17841405793187218');
  instagram.addComment(instagram.addMedia('A picture'), 'Nice!');
  whatsapp.tokens.set(TOKEN, NUMBER);
  whatsapp.open.add(WRITER);
  mail.imap.appendMessage('INBOX', [], false, FIRST_MAIL);
  bluesky.addAccount('ada.test', PASSWORD);
  bluesky.addAccount('bob.test', PASSWORD);
  bluesky.addPost('bob.test', 'Good morning');
  mastodon.addAccount('ada', TOKEN);
  mastodon.addStatus('bob', '<p>Hello #world</p>');
  telegram.addBot(BOT_TOKEN, 'ada_bot');
  telegram.addChat({ id: 5, type: 'private', first_name: 'Bob' });
  const date = Math.floor(Date.now() / 1_000);
  telegram.push(BOT_TOKEN, {
    message: { message_id: 1, date, chat: { id: 5, type: 'private', first_name: 'Bob' }, text: 'Hi bot' },
  });

  const servers = { slack, discord, x, linkedin, facebook, instagram, whatsapp, bluesky, mastodon };
  const arrived: Record<string, () => readonly unknown[]> = {
    telegram: () => telegram.calls.map(({ method, parameters }) => ({ method, parameters })),
    email: () => mail.received,
  };
  const page = await startPage(
    Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, `${url}/__received`])),
    arrived,
  );
  const place = (port: number) => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user: MAIL,
    password: PASSWORD,
  });
  const oauth = { access_token: TOKEN };
  return {
    url: page.url,
    pages: page.pages,
    environment: {
      ...Object.fromEntries(
        Object.entries({ ...servers, telegram }).map(([name, { url }]) => [
          `TOOLHUB_CONNECTOR_${name.toUpperCase()}_URL`,
          url,
        ]),
      ),
      WHATSAPP_APP_SECRET: APP_SECRET,
      TOOLHUB_EGRESS_ALLOW: [
        `127.0.0.1:${mail.imapPort}`,
        `127.0.0.1:${mail.smtpPort}`,
        new URL(bluesky.url).host,
        new URL(mastodon.url).host,
      ].join(','),
    },
    credentials: {
      email: { imap: place(mail.imapPort), smtp: place(mail.smtpPort), from: `Ada <${MAIL}>` },
      whatsapp: { access_token: TOKEN, phone_number_id: NUMBER, business_account_id: BUSINESS },
      telegram: { bot_token: BOT_TOKEN },
      slack: oauth,
      discord: { bot_token: TOKEN },
      x: oauth,
      linkedin: oauth,
      facebook: oauth,
      instagram: oauth,
      bluesky: { service: bluesky.url, identifier: 'ada.test', app_password: PASSWORD },
      mastodon: { instance_url: mastodon.url, access_token: TOKEN },
    },
    async greet(hub) {
      const body = received(new Date());
      const signature = createHmac('sha256', APP_SECRET).update(body).digest('hex');
      const answer = await fetch(`${hub}/webhooks/whatsapp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
        body,
      });
      if (!answer.ok) throw new Error(`the webhook of WhatsApp answered ${answer.status}`);
    },
    revoke() {
      for (const { tokens } of [slack, discord, x, linkedin, facebook, instagram, whatsapp]) tokens.clear();
      bluesky.addAccount('ada.test', 'another-password');
      bluesky.expireAccess();
      bluesky.expireRefresh();
      mastodon.tokens.clear();
      telegram.revoke(BOT_TOKEN);
    },
    async stop() {
      await Promise.all([...Object.values(servers), telegram, mail, page].map((server) => server.stop()));
    },
  };
}

/** The front page, and the pages of servers that have none of their own. */
async function startPage(
  elsewhere: Record<string, string>,
  arrived: Record<string, () => readonly unknown[]>,
): Promise<{ url: string; pages: Record<string, string>; stop(): Promise<void> }> {
  const pages: Record<string, string> = { ...elsewhere };
  const server = createServer((request, response) => {
    const shown = arrived[(request.url ?? '/').slice(1)];
    const body =
      shown === undefined
        ? `<h1>Vendors</h1><ul>${Object.entries(pages)
            .map(([name, url]) => `<li><a href="${html(url)}">${html(name)}: what arrived</a></li>`)
            .join('')}</ul>`
        : shown()
            .slice(-SHOWN_MAX)
            .toReversed()
            .map((one) => `<pre>${html(JSON.stringify(one, null, 2))}</pre>`)
            .join('');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><html lang="en"><title>Vendors</title>${body}</html>`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const name of Object.keys(arrived)) pages[name] = `${url}/${name}`;
  return {
    ...{ url, pages },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
