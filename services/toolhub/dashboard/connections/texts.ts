import type { ConnectCode } from '../../src/connect/codes.ts';

export const platforms: Record<string, string> = {
  email: 'E-mail',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  slack: 'Slack',
  discord: 'Discord',
  x: 'X',
  linkedin: 'LinkedIn',
  facebook: 'Facebook',
  instagram: 'Instagram',
  bluesky: 'Bluesky',
  mastodon: 'Mastodon',
};

/** Where to find what the form asks for. */
export const platformLeads: Record<string, string> = {
  email:
    'Read, write and organise mail over IMAP and SMTP. Most providers want an app password here, not your usual one.',
  whatsapp:
    'Send messages from a WhatsApp Business number. The ids are on the page “API Setup” of your app at developers.facebook.com.',
  telegram: 'Talk to @BotFather in Telegram, send /newbot, and paste the token that it answers with.',
  slack:
    'Log in where the operator has registered this service, or paste a token from “OAuth & Permissions” of your app.',
  discord: 'Make a bot at discord.com/developers, invite it to your server, and paste its token.',
  x: 'Log in where the operator has registered this service, or paste an OAuth 2.0 access token from your developer project.',
  linkedin:
    'Log in where the operator has registered this service, or paste an access token of your LinkedIn app.',
  facebook: 'Log in and choose your pages, or paste an access token: your own, or that of one page.',
  instagram: 'Needs a professional account. Log in, or paste an access token.',
  bluesky: 'Make an app password in the settings of Bluesky: your usual password is not needed here.',
  mastodon: 'Log in at your own server, or paste a token from Preferences → Development.',
};

/** What an assistant can do once it is connected. */
export const platformUses: Record<string, string> = {
  email: 'Read, send and organise your mail.',
  whatsapp: 'Answer customers from your business number.',
  telegram: 'Let a bot read and write in your chats.',
  slack: 'Read channels and send messages.',
  discord: 'Read and write in the channels of your server.',
  x: 'Read, post and answer.',
  linkedin: 'Publish and comment in your name.',
  facebook: 'Look after your page.',
  instagram: 'Publish pictures and answer comments.',
  bluesky: 'Read, post and like.',
  mastodon: 'Read, post and favourite on your server.',
};

export const health = {
  ok: 'OK',
  degraded: 'Degraded',
  down: 'Down',
  token_expired: 'Token expired',
  not_connected: 'Not connected',
  unknown: 'Not checked yet',
} as const;

/** Why a login at the vendor came to nothing. */
const connectErrors: Record<string, string> = {
  connect_denied: 'You did not allow the access. Nothing was stored; try again when you want to.',
  connect_state_invalid:
    'This login was opened a second time, took too long, or was begun in another browser. Begin again here.',
  connect_failed: 'The vendor did not accept the login. Begin again, and tell the operator if it stays so.',
  connect_not_supported: 'This platform is connected by its keys, with the form below.',
  not_configured:
    'The operator has not registered this service at the vendor. The form below works without that.',
  address_refused: 'This server address is not allowed. The operator can allow it with TOOLHUB_EGRESS_ALLOW.',
  platform_unreachable: 'The vendor did not answer. Nothing was stored; try again in a moment.',
  credential_rejected: 'The platform did not accept this login.',
  invalid_query: 'Write the address of your server, such as https://mastodon.social, and begin again.',
  rate_limited: 'Too many requests came from your account. Nothing was stored; begin again in a moment.',
  csrf: 'This login was begun by a link on another page. Begin again here.',
  not_ready:
    'This server could not begin the login right now. Nothing was stored; try again in a moment, and tell the operator if it stays so.',
} satisfies Record<ConnectCode, string>;

/** The same where the server that was named is at fault, said at its field. */
const serverErrors: Record<string, string> = {
  address_refused: 'This server address is not allowed. The operator can allow it with TOOLHUB_EGRESS_ALLOW.',
  platform_unreachable:
    'This server did not answer as it should. Look at its name, or try again in a moment.',
  invalid_query: 'The address of a server alone, such as mastodon.social.',
} satisfies Partial<Record<ConnectCode, string>>;

export const connections = {
  title: 'Connections',
  lead: 'The accounts that your assistants may use.',
  connect: 'Connect',
  reconnect: 'Reconnect',
  manage: 'Manage',
  tokenUntil: 'Token lasts until',
  orRenewed: ', and is renewed where the platform allows it',
  tokenEnded: 'Token ended',
  connection: 'Connection',
  status: 'Status',
  account: 'Account',
  message: 'What the last check said',
  latency: 'Answer took',
  changed: 'Stored',
  checked: 'Checked',
  seeTools: 'See its tools',
  disconnect: 'Disconnect',
  disconnectQuestion: (title: string) => `Disconnect ${title}?`,
  disconnectHint:
    'The credential and what was stored of the account are deleted. Tools of this platform stop working.',
  disconnected: 'Disconnected.',
  byKey: 'Connect by form',
  byKeyAgain: 'Connect again by form',
  byKeyLead: 'What you enter is tried at the platform before it is stored.',
  orPaste: 'Or paste a token. It is tried at the platform before it is stored.',
  byLogin: 'Connect by login',
  byLoginAgain: 'Connect again by login',
  byLoginLead: 'You log in at the vendor and come back here.',
  logInAt: (title: string) => `Log in with ${title}`,
  logInThere: 'Log in there',
  server: 'Your server',
  notAServer: 'The address of a server alone, such as mastodon.social.',
  notRegistered: (titles: string) =>
    `The operator has not registered this service at ${titles} yet. The form below works without that.`,
  test: 'Test and connect',
  sealed: 'What you enter is sealed when it is stored, and never shown again.',
  stored: 'Connected.',
  notStored: 'Nothing was stored',
  notReached: 'The service could not be reached. Nothing was sent; try again when the connection is back.',
  nowConnected: 'Connected. Your assistants can use it now.',
  notConnected: 'Not connected',
  errors: connectErrors,
  serverErrors,
  otherError: (code: string) => `The login ended with ${code}. Nothing was stored; begin again here.`,
} as const;

export const emailForm = {
  from: 'Your address',
  fromHint: 'What recipients see as the sender, such as Ada <ada@example.com>.',
  imap: 'Reading (IMAP)',
  smtp: 'Sending (SMTP)',
  host: 'Server',
  port: 'Port',
  secure: 'Encrypted from the start',
  secureHint: 'Yes for ports 993 and 465; no for 143 and 587, which encrypt after hello.',
  user: 'User name',
  password: 'Password',
  passwordHint: 'Usually an app password.',
  sameAsImap: 'As for reading',
} as const;
