import { randomBytes } from 'node:crypto';
import { registerPlatformRoutes } from '../connect/platforms-routes.ts';
import type { Connector } from '../connectors/connector.ts';
import { type ConnectorService, createConnectorService } from '../connectors/service.ts';
import { type Connections, createConnections } from '../credentials/connections.ts';
import { type InternalAccounts, readInternalAccounts } from '../credentials/internal-accounts.ts';
import { createRefreshCounter } from '../credentials/metrics.ts';
import { registerCredentialRoutes } from '../credentials/routes.ts';
import {
  type CredentialService,
  type CredentialServiceDependencies,
  createCredentialService,
} from '../credentials/service.ts';
import { listSection } from '../data-export/section.ts';
import type { EmitEvent } from '../events/event.ts';
import { registerHealthRoutes } from '../health/routes.ts';
import { createHealth, type Health } from '../health/service.ts';
import type { Accounts } from './accounts.ts';
import type { Base, Part } from './base.ts';

export type Platforms = Part & {
  definitions: readonly Connector[];
  connectors: ConnectorService;
  connections: Connections;
  internalAccounts: InternalAccounts;
  credentials: CredentialService;
  health: Health;
};

type Ground = Pick<Base, 'database' | 'sealer' | 'newId' | 'now'> & {
  audit: Pick<Base['audit'], 'recordIn'>;
  changes: Pick<Base['changes'], 'publish' | 'on'>;
  config: Pick<Base['config'], 'egressAllow' | 'connectorUrls' | 'oauthClients' | 'internalAccounts'> & {
    server: Pick<Base['config']['server'], 'publicUrl'>;
  };
};

/** Platforms and what their accounts are opened with, before anybody can reach them from outside. */
export function createPlatformAccounts(
  { config, database, audit, changes, sealer, newId, now }: Ground,
  {
    definitions,
    ...told
  }: { definitions: readonly Connector[] } & Pick<
    CredentialServiceDependencies,
    'emitEvent' | 'onUnreadable' | 'countRefresh'
  >,
) {
  const connectors = createConnectorService({
    ...{ connectors: definitions, database, now, randomBytes },
    egressAllow: config.egressAllow,
    baseUrls: config.connectorUrls,
    oauthClients: config.oauthClients,
    publicUrl: config.server.publicUrl,
  });
  const internalAccounts = readInternalAccounts(config.internalAccounts, definitions);
  const connections = createConnections({ database, changes });
  const credentials = createCredentialService({
    ...{ database, audit, sealer, connectors, connections, internalAccounts, now, ...told },
    newLeaseId: () => newId('lse'),
  });
  return { connectors, connections, internalAccounts, credentials };
}

/** Platforms, what their accounts are opened with, and how they are. */
export function addPlatforms(
  base: Base,
  {
    definitions,
    accounts,
    emitEvent,
  }: { definitions: readonly Connector[]; accounts: Accounts; emitEvent: EmitEvent },
): Platforms {
  const { app, database, newId, now } = base;
  const { access, routes } = accounts;
  const made = createPlatformAccounts(base, {
    ...{ definitions, emitEvent, countRefresh: createRefreshCounter(base.metrics) },
    onUnreadable: (error, { customerId, platform }) =>
      app.log.error({ err: error, customer: customerId, platform }, 'a credential does not open'),
  });
  const { connectors, credentials } = made;
  const health = createHealth({
    ...{ database, connectors, credentials, newId, now },
    onError: (error, context) => app.log.error({ err: error, ...context }, 'a health check failed'),
  });

  registerCredentialRoutes(routes, { credentials, connectors: definitions, access });
  registerPlatformRoutes(routes, { definitions, connectors });
  registerHealthRoutes(routes, { health, access });
  return {
    ...{ definitions, ...made, health },
    handlers: [...health.jobs.handlers, ...credentials.jobs.handlers],
    cron: [...health.jobs.cron, ...credentials.jobs.cron],
    exports: [
      listSection('connections', {
        read: (customerId, { before = '', limit }) => credentials.list({ customerId, after: before, limit }),
        positionOf: ({ platform }) => platform,
        fields: ['platform', 'account', 'status', 'expiresAt', 'updatedAt'],
      }),
    ],
    close: () => connectors.close(),
  };
}
