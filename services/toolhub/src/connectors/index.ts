import { createBlueskyConnector } from './bluesky/connector.ts';
import type { Connector } from './connector.ts';
import { createDiscordConnector } from './discord/connector.ts';
import { createEmailConnector } from './email/connector.ts';
import { createFacebookConnector } from './facebook/connector.ts';
import { createInstagramConnector } from './instagram/connector.ts';
import { createLinkedinConnector } from './linkedin/connector.ts';
import { createMastodonConnector } from './mastodon/connector.ts';
import { createSlackConnector } from './slack/connector.ts';
import { createTelegramConnector } from './telegram/connector.ts';
import { createWhatsappConnector } from './whatsapp/connector.ts';
import { createXConnector } from './x/connector.ts';

/** The list of platforms. To add one, write its folder and name it here. */
export function createConnectors(): Connector[] {
  return [
    createEmailConnector(),
    createWhatsappConnector(),
    createTelegramConnector(),
    createSlackConnector(),
    createDiscordConnector(),
    createXConnector(),
    createLinkedinConnector(),
    createFacebookConnector(),
    createInstagramConnector(),
    createBlueskyConnector(),
    createMastodonConnector(),
  ];
}

/** A vendor whose login in the browser may come; settings may name it already, so that operators can prepare. */
const ANNOUNCED = ['discord'];

/** The names that settings may use: `TOOLHUB_CONNECTOR_<PLATFORM>_URL`, `TOOLHUB_OAUTH_<PROVIDER>_…`. */
export function settingNames(connectors: readonly Connector[]): {
  platforms: ReadonlySet<string>;
  providers: ReadonlySet<string>;
} {
  const providers = connectors.flatMap(({ auth }) => auth.providers?.map(({ id }) => id) ?? []);
  return {
    platforms: new Set(connectors.map(({ id }) => id)),
    providers: new Set([...providers, ...ANNOUNCED]),
  };
}
