import { randomBytes } from 'node:crypto';
import { everyMinutes, type Handler } from '@libs/jobs';
import { createSuspensions, type Suspensions } from '../admin/suspensions.ts';
import { registerAuditRoutes } from '../audit/routes.ts';
import { createEgress } from '../connectors/egress.ts';
import { type Access, createAccess } from '../customers/access.ts';
import { createBearerResolver } from '../customers/bearer.ts';
import type { BearerResolver } from '../customers/identity.ts';
import { createLoginLimit } from '../customers/login-limit.ts';
import { createPasswords } from '../customers/passwords.ts';
import { createRevocations } from '../customers/revocations.ts';
import { registerCustomerRoutes } from '../customers/routes.ts';
import { type CustomerService, createCustomerService } from '../customers/service.ts';
import { createTokenService } from '../customers/tokens.ts';
import { registerTokenRoutes } from '../customers/tokens-routes.ts';
import type { FetchDocument } from '../oauth/provider/provider.ts';
import { registerOAuthServer } from '../oauth/server.ts';
import { createOAuthService } from '../oauth/service.ts';
import { createToolhubRoutes, type ToolhubRoutes } from '../route-rules.ts';
import type { Base, Part } from './base.ts';

const PURGE_MINUTES = 30;

export type Accounts = Part & {
  customers: CustomerService;
  access: Access;
  /** Where features declare theirs. */
  routes: ToolhubRoutes;
  resolveBearer: BearerResolver;
  suspensions: Suspensions;
};

/** Customers, their sessions and tokens, the audit log and the OAuth server. */
export async function addAccounts(base: Base, fetchDocument?: FetchDocument): Promise<Accounts> {
  const { app, config, database, rates, changes, audit, sealer, newId, now } = base;
  const { publicUrl } = config.server;
  const addressLimit = rates.limit({
    name: 'address',
    limit: config.rate.addressPerMinute,
    windowSeconds: 60,
    burst: config.rate.addressPerMinute,
  });
  const loginLimit = createLoginLimit({ database, newId, now });
  const passwords = await createPasswords();
  const customers = createCustomerService({ database, passwords, loginLimit, newId, randomBytes, now });
  const revocations = createRevocations({ database, changes });
  const tokens = createTokenService({ database, revocations, newId, randomBytes, now });
  const oauth = createOAuthService({ database, publicUrl, sealer, randomBytes, revocations, now });
  await oauth.upsertOwnClient();
  const { internalTokens, adminToken } = config.secrets;
  const suspensions = await createSuspensions({
    ...{ database, changes, now },
    onError: (error) => app.log.error({ err: error }, 'suspensions could not be read'),
  });
  const resolveBearer = suspensions.guardBearer(
    createBearerResolver({ revocations, sources: [tokens, oauth], internalTokens, now }),
  );
  const resolveCookie = suspensions.guardCookie(customers.resolveCookie);
  const access = createAccess({ publicUrl, adminToken, resolveBearer, resolveCookie });
  const routes = createToolhubRoutes(app, { config, rates, access, audit });
  const egress = createEgress({ allow: config.egressAllow });

  registerCustomerRoutes(app, { customers, access, audit, addressLimit });
  registerTokenRoutes(routes, { tokens, access });
  registerAuditRoutes(app, { audit, access });
  registerOAuthServer(app, {
    database,
    publicUrl,
    oauth,
    customers,
    tokens,
    access,
    audit,
    resolveBearer,
    revocations,
    addressLimit,
    fetchDocument: fetchDocument ?? ((url, { headers, signal }) => egress.fetch(signal)(url, { headers })),
    newId,
    now,
  });

  const purge: Handler = {
    name: 'accounts.purge',
    handle: async () => {
      await Promise.all([loginLimit.purge(), customers.purge(), tokens.purge(), oauth.purge()]);
    },
  };
  return {
    customers,
    access,
    routes,
    resolveBearer,
    suspensions,
    handlers: [purge],
    cron: [{ name: purge.name, schedule: everyMinutes(PURGE_MINUTES) }],
    close: () => egress.close(),
  };
}
