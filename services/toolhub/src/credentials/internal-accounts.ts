import { createHash } from 'node:crypto';
import { Check, Errors } from 'typebox/value';
import type { Connector } from '../connectors/connector.ts';

export interface InternalAccount {
  platform: string;
  name: string;
  credential: unknown;
  /** Changes with the settings, so that renewed tokens of older settings are not taken for them. */
  seed: string;
}

/** The accounts that the operator configured for internal sessions. */
export interface InternalAccounts {
  /** In the order of the settings; the enumeration of the `account` parameter. */
  names(platform: string): readonly string[];
  /** Undefined for an unknown name, and without a name where there are several to choose from. */
  find(platform: string, name?: string): InternalAccount | undefined;
}

export class InternalAccountsError extends Error {
  override readonly name = 'InternalAccountsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`TOOLHUB_INTERNAL_ACCOUNTS: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

/** Checks every credential against its platform at the start; the message names the places, never the values. */
export function readInternalAccounts(
  settings: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  connectors: readonly Connector[],
): InternalAccounts {
  const problems: string[] = [];
  const byPlatform = new Map<string, Map<string, InternalAccount>>();
  for (const [platform, accounts] of Object.entries(settings)) {
    const connector = connectors.find(({ id }) => id === platform);
    if (connector === undefined) {
      problems.push(`there is no platform ${platform}`);
      continue;
    }
    const schema = connector.auth.credentialSchema;
    const named = new Map<string, InternalAccount>();
    for (const [name, credential] of Object.entries(accounts)) {
      if (!Check(schema, credential)) {
        const places = Errors(schema, credential).map(
          (error) => `${error.instancePath || '/'} ${error.message}`,
        );
        problems.push(`${platform}/${name}: ${[...new Set(places)].slice(0, 5).join(', ')}`);
      }
      named.set(name, { platform, name, credential, seed: fingerprint(credential) });
    }
    byPlatform.set(platform, named);
  }
  if (problems.length > 0) throw new InternalAccountsError(problems);
  return {
    names: (platform) => [...(byPlatform.get(platform)?.keys() ?? [])],
    find(platform, name) {
      const accounts = byPlatform.get(platform);
      if (name !== undefined) return accounts?.get(name);
      return accounts?.size === 1 ? accounts.values().next().value : undefined;
    },
  };
}

function fingerprint(credential: unknown): string {
  return createHash('sha256').update(JSON.stringify(credential)).digest('base64url');
}
