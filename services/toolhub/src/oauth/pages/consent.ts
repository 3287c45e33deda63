import { type Client, type Interaction, errors as oauthErrors, type Provider } from 'oidc-provider';
import { parseScopes, type Scope } from '../../customers/identity.ts';
import type { Arrivals } from '../provider/arrivals.ts';
import { OWN_CLIENT_ID } from '../provider/own-client.ts';
import { oauthPaths, RESOURCE_SCOPES } from '../provider/provider.ts';
import { redirectHost } from '../provider/redirects.ts';

function textParam({ params }: Interaction, name: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : '';
}

function requestedScopes(interaction: Interaction): Scope[] {
  return parseScopes(textParam(interaction, 'scope'));
}

/** The authorization request once more, after a login: what asked for the login is answered by it. */
export function restartUrl(params: Interaction['params']): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    for (const one of [value].flat()) query.append(name, String(one));
  }
  const prompts = (typeof params.prompt === 'string' ? params.prompt : '')
    .split(' ')
    .filter((prompt) => prompt !== '' && prompt !== 'login');
  query.delete('prompt');
  if (prompts.length > 0) query.set('prompt', prompts.join(' '));
  return `${oauthPaths.authorize}?${query}`;
}

/** Who looks at a page, and what the page is made with. */
export interface Looking {
  provider: Provider;
  arrivals: Pick<Arrivals, 'visit'>;
  /** Whose allowance a document is fetched on that this process has not met. */
  ip: string;
}

/** Undefined for a client that is not known, or whose document cannot be had now; the library says so in its turn. */
async function findClient(
  { provider, arrivals, ip }: Looking,
  clientId: string,
): Promise<Client | undefined> {
  try {
    return await arrivals.visit(ip, () => provider.Client.find(clientId));
  } catch (error) {
    if (error instanceof oauthErrors.OIDCProviderError) return undefined;
    throw error;
  }
}

export async function viewOfClient(
  looking: Looking,
  { client_id: wanted }: Interaction['params'],
): Promise<{ clientName: string; clientHost: string | undefined }> {
  const clientId = typeof wanted === 'string' ? wanted : '';
  const client = await findClient(looking, clientId);
  const isDocument = client === undefined ? /^https:/i.test(clientId) : client.clientIdMetadataDocument;
  const clientHost = isDocument && URL.canParse(clientId) ? new URL(clientId).host : undefined;
  return {
    clientName: client?.clientName?.trim() || clientHost || 'An application without a name',
    clientHost,
  };
}

export async function viewOfConsent(looking: Looking, interaction: Interaction) {
  const redirectUri = textParam(interaction, 'redirect_uri');
  return {
    ...(await viewOfClient(looking, interaction.params)),
    redirectHost: redirectHost(redirectUri),
    redirectScheme: new URL(redirectUri).protocol,
    scopes: requestedScopes(interaction),
    isOwnClient: textParam(interaction, 'client_id') === OWN_CLIENT_ID,
  };
}

/** Stores what the customer agreed to: exactly what the page listed. */
export async function grantConsent(
  provider: Provider,
  interaction: Interaction,
  customerId: string,
): Promise<string> {
  const grant = new provider.Grant({ accountId: customerId, clientId: textParam(interaction, 'client_id') });
  const scopes = requestedScopes(interaction);
  grant.addOIDCScope(scopes.join(' '));
  const onResource = scopes.filter((scope) => RESOURCE_SCOPES.includes(scope)).join(' ');
  for (const resource of [interaction.params.resource ?? []].flat()) {
    grant.addResourceScope(String(resource), onResource);
  }
  return grant.save();
}
