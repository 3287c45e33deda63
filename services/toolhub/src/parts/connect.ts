import { randomBytes } from 'node:crypto';
import { registerConnectRoutes } from '../connect/routes.ts';
import { createConnectService } from '../connect/service.ts';
import { createLinks } from '../links.ts';
import { isOn } from '../tools/lists.ts';
import type { Accounts } from './accounts.ts';
import type { Base, Part } from './base.ts';
import type { Platforms } from './platforms.ts';
import type { Tools } from './tools.ts';

/** Connecting an account by a login at its vendor. */
export function addConnect(
  { config, database, sealer, newId, now }: Base,
  parts: { platforms: Platforms; tools: Tools; accounts: Pick<Accounts, 'access' | 'routes'> },
): Part {
  const { publicUrl } = config.server;
  const { connectors, credentials } = parts.platforms;
  const { tools } = parts.tools;
  const { access, routes } = parts.accounts;
  const connect = createConnectService({
    ...{ database, sealer, connectors, credentials, publicUrl, randomBytes, now },
    lostKeyIds: config.secrets.lostKeyIds,
    newLeaseId: () => newId('lse'),
    async switchedOn(customerId) {
      const { switches } = await tools.selectionOf(customerId);
      return (name) => {
        const tool = tools.catalogue.find(name);
        return tool !== undefined && isOn(tool, switches);
      };
    },
  });
  registerConnectRoutes(routes, { connect, access, connectionPage: createLinks(publicUrl).connect });
  return { ...connect.jobs, close: () => Promise.resolve() };
}
