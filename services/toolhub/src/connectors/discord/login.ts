import type { OAuthProvider } from '../connector.ts';
import { credentialOf, oauthCredentialSchema } from '../vendor-api/oauth-credential.ts';
import { type DiscordCredential, TITLE } from './api.ts';

/** Addresses of tokens have no version. */
export const TOKEN_PATH = '/oauth2/token';

/** A person's login: who they are and where they are members. Messages are for bots alone, whatever a person allows. */
export const discordLogin: OAuthProvider<DiscordCredential> = {
  id: 'discord',
  title: TITLE,
  authorizeUrl: 'https://discord.com/oauth2/authorize',
  tokenUrl: `https://discord.com/api${TOKEN_PATH}`,
  scopes: ['identify'],
  toolScopes: {
    ...{ discord_get_profile: [], discord_list_servers: ['guilds'], discord_list_channels: [] },
    ...{ discord_get_messages: [], discord_list_received_messages: [], discord_send_message: [] },
    ...{ discord_create_thread: [], discord_add_reaction: [], discord_delete_message: [] },
  },
  clientAuthentication: 'body',
  credentialSchema: oauthCredentialSchema,
  toCredential: (grant) => credentialOf(grant),
};
