import { randomBytes } from 'node:crypto';
import { acceptedOrigins } from '@libs/http';
import { everyMinutes, type Handler } from '@libs/jobs';
import { createLogin, relyingPartyOf } from '@libs/login';
import { createLoggedOutage } from '@libs/runtime';
import { createSuspensions, type Suspensions } from '../admin/suspensions.ts';
import type { CallingClient } from '../approvals/approval.ts';
import { registerAuditRoutes } from '../audit/routes.ts';
import { forgetOrders } from '../billing/taken-back.ts';
import type { Connector } from '../connectors/connector.ts';
import { createEgress } from '../connectors/egress.ts';
import { titlesOf } from '../connectors/titles.ts';
import { CONNECTION_TOPIC } from '../credentials/connections.ts';
import { type Access, createAccess } from '../customers/access.ts';
import { createBearerResolver } from '../customers/bearer.ts';
import { createErasure } from '../customers/erasure.ts';
import type { BearerResolver, Session } from '../customers/identity.ts';
import { registerPasskeyRoutes } from '../customers/passkey-routes.ts';
import { createRevocations } from '../customers/revocations.ts';
import { registerCustomerRoutes } from '../customers/routes.ts';
import { registerSecurityRoutes } from '../customers/security-routes.ts';
import {
  type CustomerService,
  createCustomerService,
  customersOfLogin,
  SESSION_TOKEN_PREFIX,
} from '../customers/service.ts';
import { createTokenService } from '../customers/tokens.ts';
import { registerTokenRoutes } from '../customers/tokens-routes.ts';
import { type ExportSection, listSection, pagesOf, shown } from '../data-export/section.ts';
import { createInvoiceClosing } from '../invoices/closing.ts';
import { releaseWaitingInvoices } from '../invoices/mails.ts';
import { sellerOf } from '../invoices/parties.ts';
import { forgetInvoicing } from '../invoices/taken-back.ts';
import type { ClientPlace } from '../oauth/grants-store.ts';
import type { FetchDocument } from '../oauth/provider/provider.ts';
import { registerOAuthServer } from '../oauth/server.ts';
import { createOAuthService } from '../oauth/service.ts';
import { createToolhubRoutes, type RoutesOn, type ToolhubRoutes } from '../route-rules.ts';
import { atTokenOwner, deleteTokenOwnersBefore, noteTokenOwner } from '../token-owners-store.ts';
import type { Base, Part } from './base.ts';

const PURGE_MINUTES = 30;

export type Accounts = Part & {
  customers: CustomerService;
  access: Access;
  /** Where features declare their routes, which puts them into the app. */
  routes: ToolhubRoutes;
  /** The same for a scope that reads bodies in its own way. */
  routesOn: RoutesOn;
  resolveBearer: BearerResolver;
  /** Which client calls, under an id that outlives its tokens. */
  clientOf(session: Session): Promise<CallingClient>;
  suspensions: Suspensions;
};

/** Customers, their sessions and tokens, the audit log and the OAuth server. */
export async function addAccounts(
  base: Base,
  {
    definitions,
    fetchDocument,
  }: { definitions: readonly Connector[]; fetchDocument?: FetchDocument | undefined },
): Promise<Accounts> {
  const { app, config, database, rates, changes, audit, sealer, noticeMailer, newId, now } = base;
  const { publicUrl } = config.server;
  const addressLimit = rates.limit({
    name: 'address',
    limit: config.rate.addressPerMinute,
    windowSeconds: 60,
    burst: config.rate.addressPerMinute,
  });
  const revocations = createRevocations({ database, changes });
  const erasure = createErasure({
    ...{ database, revocations, now },
    accounts: createInvoiceClosing({
      ...{ newId, now, platformTitle: titlesOf(definitions) },
      issuer: sellerOf({ from: config.mail.from, publicUrl, ...config.seller }).issuer,
    }),
    async forgetPlatforms(tx, customerId) {
      for (const { forget } of definitions) await forget?.(tx, customerId);
      await changes.publish(tx, CONNECTION_TOPIC, customerId);
    },
    async forgetOrders(tx, customerId) {
      await forgetOrders(tx, { customerId, newId, now });
      await forgetInvoicing(tx, customerId);
    },
  });
  const login = createLogin({
    ...{ database, mailer: noticeMailer, newId, randomBytes, now, people: customersOfLogin },
    personColumn: 'customer_id',
    personIsTenant: true,
    sessionOwners: {
      note: (db, { key, personId, expiresAt }) =>
        noteTokenOwner(db, { key, customerId: personId, expiresAt, now: now() }),
      at: atTokenOwner,
    },
    sessionTokenPrefix: SESSION_TOKEN_PREFIX,
    relyingParty: relyingPartyOf('Toolhub', publicUrl, acceptedOrigins(publicUrl)),
    words: {
      product: 'Toolhub',
      pages: { verify: `${publicUrl}/verify`, reset: `${publicUrl}/reset` },
      tokenPrefix: 'thm_',
      reclaimed:
        'tokens, connected assistants and platforms, waiting calls, rules and switches,\nwebhook, plan and billing details',
    },
    onVerified: releaseWaitingInvoices,
    onReclaimed: erasure.reclaim,
  });
  const { security, sessions, passkeys } = login;
  const suspensions = await createSuspensions({
    ...{ database, changes, now, operator: config.seller.name },
    outage: createLoggedOutage(app.log, {
      began: 'suspensions cannot be read; trying on',
      ended: 'suspensions are read again',
    }),
  });
  const { isSuspended } = suspensions;
  const customers = createCustomerService({ database, login, isSuspended, newId, now });
  const tokens = createTokenService({ database, revocations, newId, randomBytes, now });
  const oauth = createOAuthService({ database, publicUrl, sealer, randomBytes, revocations, now });
  await oauth.upsertOwnClient();
  const { internalTokens, adminToken } = config.secrets;
  const resolveBearer = suspensions.guardBearer(
    createBearerResolver({ revocations, sources: [tokens, oauth], internalTokens, now }),
  );
  const resolveCookie = suspensions.guardCookie(customers.resolveCookie);
  const access = createAccess({ publicUrl, adminToken, resolveBearer, resolveCookie });
  const routesOn = createToolhubRoutes({ config, rates, access, audit, addressLimit });
  const routes = routesOn(app);
  const egress = createEgress({ allow: config.egressAllow });

  registerCustomerRoutes(routes, { customers, security, erasure, access, suspensions });
  registerSecurityRoutes(routes, { security, sessions, access });
  registerPasskeyRoutes(routes, { customers, passkeys, security, access, suspensions });
  registerTokenRoutes(routes, { tokens, access });
  registerAuditRoutes(routes, { audit, access });
  registerOAuthServer(app, {
    database,
    publicUrl,
    oauth,
    customers,
    tokens,
    access,
    audit,
    suspensions,
    routesOn,
    resolveBearer,
    revocations,
    addressLimit,
    fetchDocument: fetchDocument ?? ((url, { headers, signal }) => egress.fetch(signal)(url, { headers })),
    newId,
    now,
  });

  const profile: ExportSection = {
    name: 'profile',
    async one(customerId) {
      const customer = await customers.find(customerId);
      return customer && shown(customer, ['id', 'email', 'emailVerified', 'name', 'plan', 'createdAt']);
    },
  };
  const sessionList = listSection('sessions', {
    read: (personId, page) => sessions.list({ personId, ...page }),
    positionOf: ({ id }) => id,
    fields: ['id', 'ip', 'userAgent', 'createdAt', 'expiresAt'],
  });
  const passkeyList: ExportSection = {
    name: 'passkeys',
    one: async (customerId) =>
      (await passkeys.list(customerId)).map((key) => shown(key, ['id', 'name', 'createdAt', 'lastUsedAt'])),
  };
  const tokenList = listSection('tokens', {
    read: (customerId, page) => tokens.list({ customerId, ...page }),
    positionOf: ({ id }) => id,
    fields: ['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt'],
  });
  const clientList = listSection('clients', {
    read: (customerId, page: { before: ClientPlace | undefined; limit: number }) =>
      oauth.listClients({ customerId, ...page }),
    positionOf: (client) => client,
    fields: ['id', 'name', 'scopes', 'connectedAt', 'lastSeenAt'],
  });
  const log: ExportSection = {
    name: 'audit',
    async *pages(customerId) {
      const read = async (page: { before: string | undefined; limit: number }) =>
        (await audit.list({ customerId, before: page.before ?? null, limit: page.limit })).entries;
      for await (const entries of pagesOf(read, ({ id }) => id))
        yield entries.map((entry) =>
          shown(entry, ['id', 'at', 'actor', 'action', 'target', 'outcome', 'ip', 'requestId']),
        );
    },
  };

  const purge: Handler = {
    name: 'accounts.purge',
    handle: async () => {
      await Promise.all([
        ...[login.purge(), tokens.purge(), oauth.purge()],
        deleteTokenOwnersBefore(database, now()),
      ]);
    },
  };
  return {
    customers,
    access,
    routes,
    routesOn,
    resolveBearer,
    async clientOf({ via, customerId, tokenId }) {
      const token = { customerId, id: tokenId ?? '' };
      const known = via === 'oauth' ? await oauth.clientOf(token) : await tokens.findById(token);
      return known ?? { id: token.id, name: token.id };
    },
    suspensions,
    exports: [profile, sessionList, passkeyList, tokenList, clientList, log],
    handlers: [purge, ...login.handlers, ...erasure.handlers],
    cron: [{ name: purge.name, schedule: everyMinutes(PURGE_MINUTES) }],
    close: () => egress.close(),
  };
}
