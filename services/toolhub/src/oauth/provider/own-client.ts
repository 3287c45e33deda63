import { ownRedirectUris } from './redirects.ts';

/** The platform's client for assistants; it appears in OAuth's own addresses and nowhere else. */
export const OWN_CLIENT_ID = 'cli_platform_connector';

export function ownClientMetadata(publicUrl: string): Record<string, unknown> & { redirect_uris: string[] } {
  return {
    client_id: OWN_CLIENT_ID,
    client_name: 'Toolhub connector',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: ownRedirectUris(publicUrl),
  };
}

/** How a client is called where customers read it: the own one by a word, since its id stays on the server side. */
export function shownClient(clientId: string): string {
  return clientId === OWN_CLIENT_ID ? 'platform' : clientId;
}
