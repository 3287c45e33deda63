import { createBlueskyConnector } from './bluesky/connector.ts';
import type { Connector } from './connector.ts';
import { createDiscordConnector } from './discord/connector.ts';
import { createEmailConnector } from './email/connector.ts';
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
    createBlueskyConnector(),
    createMastodonConnector(),
  ];
}

/** Platforms that settings may name before this version has them, so that operators can prepare. */
const ANNOUNCED = ['slack', 'discord', 'x', 'linkedin', 'instagram', 'facebook', 'bluesky', 'mastodon'];

/** The names that settings may use: `TOOLHUB_CONNECTOR_<PLATFORM>_URL`, `TOOLHUB_OAUTH_<PROVIDER>_…`. */
export function settingNames(connectors: readonly Connector[]): {
  platforms: ReadonlySet<string>;
  providers: ReadonlySet<string>;
} {
  const providers = connectors.flatMap(({ auth }) => auth.providers?.map(({ id }) => id) ?? []);
  return {
    platforms: new Set([...connectors.map(({ id }) => id), ...ANNOUNCED]),
    providers: new Set([...providers, ...ANNOUNCED]),
  };
}
