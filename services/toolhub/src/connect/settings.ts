import type { Env } from '@libs/runtime';
import type { OAuthClient } from '../connectors/connector.ts';

export const OAUTH_FIELDS = ['CLIENT_ID', 'CLIENT_SECRET', 'AUTHORIZE_URL', 'TOKEN_URL'] as const;
const VARIABLE = new RegExp(`^TOOLHUB_OAUTH_([A-Z]+)_(${OAUTH_FIELDS.join('|')})$`);

type Field = (typeof OAUTH_FIELDS)[number];

/** Reads `TOOLHUB_OAUTH_<PROVIDER>_*`; what is wrong with them is added to `problems`. */
export function readOAuthClients(
  env: Env,
  providers: ReadonlySet<string>,
  problems: string[],
): Record<string, OAuthClient> {
  const found = new Map<string, Partial<Record<Field, string>>>();
  for (const [name, value = ''] of Object.entries(env)) {
    if (!name.startsWith('TOOLHUB_OAUTH_') || value.trim() === '') continue;
    const [, provider, field] = VARIABLE.exec(name) ?? [];
    const id = provider?.toLowerCase() ?? '';
    if (!providers.has(id)) {
      problems.push(`${name} is not a setting of any of ${[...providers].join(', ')}`);
      continue;
    }
    if (field?.endsWith('_URL') && !isWebAddress(value.trim())) {
      problems.push(`${name} must be an http or https URL`);
      continue;
    }
    found.set(id, { ...found.get(id), [field as Field]: value.trim() });
  }
  const clients: Record<string, OAuthClient> = {};
  for (const [id, fields] of found) {
    if (fields.CLIENT_ID === undefined) {
      problems.push(`TOOLHUB_OAUTH_${id.toUpperCase()}_CLIENT_ID is missing`);
      continue;
    }
    clients[id] = {
      clientId: fields.CLIENT_ID,
      clientSecret: fields.CLIENT_SECRET ?? null,
      authorizeUrl: fields.AUTHORIZE_URL ?? null,
      tokenUrl: fields.TOKEN_URL ?? null,
    };
  }
  return clients;
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
