import { openChanges } from '@libs/db';
import { acceptedOrigins } from '@libs/http';
import { everyMinutes, type Handler } from '@libs/jobs';
import { createLogin, relyingPartyOf } from '@libs/login';
import { registerAuditRoutes } from '../audit/routes.ts';
import { type AuditService, createAuditService } from '../audit/service.ts';
import { createReplyOnce, type ReplyOnce } from '../idempotency/reply.ts';
import { createIdempotency, type Idempotency } from '../idempotency/service.ts';
import { createGates, type Gates } from '../keys/access.ts';
import { registerOwnKeyRoutes } from '../keys/own-routes.ts';
import { registerAdminRoutes } from '../keys/routes.ts';
import { createKeyService, type KeyService } from '../keys/service.ts';
import { createNotices, type Notices } from '../notices/service.ts';
import { registerOrganisationRoutes } from '../organisations/routes.ts';
import { createOrganisationService } from '../organisations/service.ts';
import { registerAccountRoutes } from '../people/account-routes.ts';
import { createSessionCookies } from '../people/cookies.ts';
import { createInvitations } from '../people/invitations.ts';
import { createMembers } from '../people/members.ts';
import { registerPasskeyRoutes } from '../people/passkey-routes.ts';
import { registerSessionRoutes } from '../people/routes.ts';
import { createPeopleService, peopleOfLogin, SESSION_TOKEN_PREFIX } from '../people/service.ts';
import { registerTeamRoutes } from '../people/team-routes.ts';
import { tenantOf } from '../tenant.ts';
import type { Webhooks } from '../webhooks/service.ts';
import type { Base, Part } from './base.ts';

const PURGE_MINUTES = 30;

export type AccessPart = Part & {
  /** What declared routes ask of a caller. */
  gates: Gates;
  keys: KeyService;
  idempotency: Idempotency;
  replyOnce: ReplyOnce;
  audit: AuditService;
  notices: Notices;
};

/** Organisations, their keys and their people: who may come in, how often, and that a repeat does nothing twice. */
export async function addAccess(
  base: Base,
  { removeWebhooks }: { removeWebhooks: Webhooks['removeAll'] },
): Promise<AccessPart> {
  const {
    config,
    database,
    noticeMailer: mailer,
    sealer,
    adminToken,
    newId,
    randomBytes,
    now,
    onError,
  } = base;
  const nowMs = () => performance.now();
  const { publicUrl } = config.http;
  const changes = await openChanges({
    database,
    onError: (error) => onError(error, { where: 'changes' }),
    outage: base.outageOf('changes'),
  });
  const keys = createKeyService({
    ...{ database, changes, newId, randomBytes, now, nowMs },
    sandboxOn: config.sandbox.on,
  });
  await keys.ensureSandbox();
  const members = createMembers({ database });
  const login = createLogin({
    ...{ database, mailer, newId, randomBytes, now, people: peopleOfLogin },
    sessionTokenPrefix: SESSION_TOKEN_PREFIX,
    relyingParty: relyingPartyOf('Payments', publicUrl, acceptedOrigins(publicUrl)),
    words: {
      product: 'Payments',
      pages: { verify: `${publicUrl}/dashboard/verify`, reset: `${publicUrl}/dashboard/reset` },
      tokenPrefix: 'pml_',
      reclaimed: 'API keys and webhook endpoints of an organisation that nobody else is in',
    },
    // Somebody else may have signed up with the address: their keys and their webhooks must not outlive that.
    async onReclaimed(tx, userId) {
      for (const { organisationId, testEpoch } of await members.ownAlone(tx, userId)) {
        await keys.revokeAll(tx, organisationId, ['test', 'live']);
        await removeWebhooks(tx, tenantOf(organisationId, 'test', testEpoch));
        await removeWebhooks(tx, tenantOf(organisationId, 'live'));
      }
    },
  });
  const invitations = createInvitations({ database, mailer, publicUrl, sealer, newId, now });
  const people = createPeopleService({ database, keys, login, invitations, newId, now });
  const notices = createNotices({
    ...{ database, mailer, members, publicUrl, newId },
    limit: perHour(base, 'notices', NOTICES_PER_HOUR),
  });
  const organisations = createOrganisationService({ database, keys, notices, now });
  const gates = createGates({ keys, people, rates: limitsOf(base), adminToken, publicUrl });
  const cookies = createSessionCookies(gates.cookie);
  const audit = createAuditService({
    ...{ database, newId, now },
    onError: (error) => onError(error, { where: 'audit' }),
  });
  const idempotency = createIdempotency({ databases: base.databases, sealer, now });
  const replyOnce = createReplyOnce(idempotency);
  const purge: Handler = {
    name: 'people.purge',
    handle: async () => {
      await login.purge();
      await invitations.purge();
    },
  };
  return {
    ...{ gates, keys, idempotency, replyOnce, audit, notices },
    routes(_app, routes) {
      registerAdminRoutes(routes, { keys, now });
      registerOwnKeyRoutes(routes, { keys, gates, now });
      registerOrganisationRoutes(routes, { organisations });
      registerSessionRoutes(routes, { people, gates, cookies, security: login.security });
      registerPasskeyRoutes(routes, { people, cookies, passkeys: login.passkeys, security: login.security });
      registerAuditRoutes(routes, { audit, members });
      registerAccountRoutes(routes, { people, invitations, sessions: login.sessions });
      registerTeamRoutes(routes, { members, invitations, gates, limits: invitationLimitsOf(base) });
    },
    handlers: [purge, ...login.handlers, ...invitations.handlers, ...notices.handlers],
    cron: [{ name: purge.name, schedule: everyMinutes(PURGE_MINUTES) }],
    async close() {
      await changes.close();
      await base.mailer.close();
    },
  };
}

function limitsOf({ rates, config }: Base) {
  const { live, test, addressPerMinute } = config.rates;
  return {
    live: rates.limit({ name: 'live', limit: live }),
    test: rates.limit({ name: 'test', limit: test }),
    person: rates.limit({ name: 'person', limit: test }),
    address: rates.limit({
      ...{ name: 'address', limit: addressPerMinute, windowSeconds: 60, burst: addressPerMinute },
    }),
  };
}

const HOUR_SECONDS = 60 * 60;
const INVITATIONS_PER_HOUR = 50;
const INVITATIONS_TO_ADDRESS_PER_HOUR = 5;
const NOTICES_PER_HOUR = 10;

function perHour({ rates }: Base, name: string, limit: number) {
  return rates.limit({ name, limit, windowSeconds: HOUR_SECONDS, burst: limit });
}

function invitationLimitsOf(base: Base) {
  return {
    organisation: perHour(base, 'invitations', INVITATIONS_PER_HOUR),
    address: perHour(base, 'invited', INVITATIONS_TO_ADDRESS_PER_HOUR),
  };
}
