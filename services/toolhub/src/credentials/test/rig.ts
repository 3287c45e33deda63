import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { createIdFactory, createSealer, type SealError } from '@libs/seal';
import { createAuditService } from '../../audit/service.ts';
import type { Connector, OAuthClient } from '../../connectors/connector.ts';
import type { Session } from '../../customers/identity.ts';
import type { EmitEvent } from '../../events/event.ts';
import { createEmitEvent } from '../../events/service.ts';
import { createPlatformAccounts } from '../../parts/platforms.ts';
import type { CredentialKey } from '../credential.ts';

export interface RigOptions {
  database: Database;
  connectors: readonly Connector[];
  now: () => Date;
  keys?: Buffer[];
  allow?: string[];
  baseUrls?: Record<string, string>;
  oauthClients?: Record<string, OAuthClient>;
  internal?: Record<string, Record<string, unknown>>;
  emitEvent?: EmitEvent;
}

// One for all rigs, on the real clock, so that ids tell the order of events also where tests stop the time.
const newId = createIdFactory({ now: () => new Date(), randomBytes });

/** Everything that a process has of credentials; two of them on one database are two processes. */
export function createRig(options: RigOptions) {
  const { database, now } = options;
  const unreadable: { error: SealError; key: CredentialKey }[] = [];
  const onError = (error: unknown) => {
    throw error;
  };
  const { connectors, credentials } = createPlatformAccounts(
    {
      ...{ database, newId, now },
      audit: createAuditService({ database, newId, now, onError }),
      sealer: createSealer({ keys: options.keys ?? [Buffer.alloc(32, 1)] }),
      // Other processes are told over a connection of its own, which is not what is tried here.
      changes: { publish: () => Promise.resolve(), on: () => {} },
      config: {
        server: { publicUrl: 'http://localhost' },
        egressAllow: options.allow ?? [],
        connectorUrls: options.baseUrls ?? {},
        oauthClients: options.oauthClients ?? {},
        internalAccounts: options.internal ?? {},
      },
    },
    {
      definitions: options.connectors,
      emitEvent: options.emitEvent ?? createEmitEvent({ newId, now }),
      onUnreadable: (error, key) => unreadable.push({ error, key }),
    },
  );
  return { credentials, connectors, unreadable };
}

export function sessionOf(customerId: string): Session {
  return {
    kind: 'customer',
    customerId,
    via: 'personal',
    tokenId: 'tok_x',
    scopes: ['tools:write'],
    audience: null,
  };
}
