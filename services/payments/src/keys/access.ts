import type { Queryable } from '@libs/db';
import {
  acceptedOrigins,
  addressKey,
  parseCookies,
  type RateLimit,
  type RouteRules,
  refuseForeignPages,
  requireSameOrigin,
} from '@libs/http';
import { equalSecrets } from '@libs/seal';
import type { FastifyRequest } from 'fastify';
import { errors } from '../errors.ts';
import { type Membership, type PersonCaller, type Role, reaches, scopesOf } from '../people/person.ts';
import type { PeopleService } from '../people/service.ts';
import { type ByMode, type Mode, type Tenant, tenantOf } from '../tenant.ts';
import type { Caller, Scope } from './key.ts';
import type { KeyService } from './service.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request; set on every route but the public ones, those of a person alone and the operator's. */
    caller: Caller;
    /** Where it came with a session's cookie and not with a key. */
    person: PersonCaller | null;
  }
}

/** Of a request, what decides whether its caller may. */
type Asked = Pick<FastifyRequest, 'headers' | 'person' | 'caller'>;

interface Needs {
  readonly scope: Scope;
  readonly sandboxOnly: boolean;
}

export interface GatesDependencies {
  keys: Pick<KeyService, 'authenticate' | 'holdKey' | 'holdTenant'>;
  people: Pick<PeopleService, 'findCaller' | 'holdSession' | 'holdRole'>;
  rates: ByMode<Pick<RateLimit, 'enforce'>> & {
    readonly person: Pick<RateLimit, 'enforce'>;
    readonly address: Pick<RateLimit, 'enforce'>;
  };
  adminToken: string;
  publicUrl: string;
}

/**
 * Who may call a route: keys with the scope, and people whose role has it; those of them that are in test mode; people
 * of a role, and no key (`viewer` is every member); whoever is logged in (`person`); everybody, though not from another
 * site (`visitor`); the operator, by token or as a person, or by token alone; or everybody.
 */
export type RouteAccess =
  | Scope
  | `test:${Scope}`
  | Role
  | 'person'
  | 'visitor'
  | 'operator'
  | 'admin_token'
  | 'public';

/**
 * `key` is the limit of the caller's key or person in the mode; `person` that of a person; `address` of a stranger.
 * `operator` is that of a person, who may turn out to be no operator; the admin token is not limited.
 */
export type RouteRate = 'key' | 'person' | 'operator' | 'address' | 'none';

export type Gates = Pick<RouteRules<RouteAccess, RouteRate, never>, 'identify' | 'rate' | 'permit'> & {
  readonly cookie: { readonly name: string; readonly secure: boolean };
  /** The value of the session cookie, whether or not it stands for a session. */
  cookieOf(request: Pick<FastifyRequest, 'headers'>): string | undefined;
  /**
   * For what lets in or listens, and would outlive the caller: throws where session or key have ended since the request
   * came in, or the role no longer reaches what is needed (unless told otherwise, what the route asks for); until the
   * transaction ends, nobody ends or changes them.
   */
  holdCaller(request: FastifyRequest, tx: Queryable, need?: RouteAccess): Promise<void>;
  /** The same for what outlives a reset of the sandbox, too: answers the tenant that the caller has become by now, and stays. */
  holdCallerAndTenant(request: FastifyRequest, tx: Queryable): Promise<Tenant>;
  /** Whether the caller of a long answer still is who it was, with the same rights. */
  stillAllowed(request: FastifyRequest, scope: Scope): Promise<boolean>;
};

const ROLES: ReadonlySet<string> = new Set<Role>(['owner', 'developer', 'viewer']);
const isRole = (need: RouteAccess): need is Role => ROLES.has(need);

/**
 * What declared routes ask of a caller, before the body is read: a stranger's body costs nothing. A known key is let in
 * without a promise, so that the hot path pays a map look-up and no turn of the event loop.
 */
export function createGates({ keys, people, rates, adminToken, publicUrl }: GatesDependencies): Gates {
  const origins = acceptedOrigins(publicUrl);
  const secure = publicUrl.startsWith('https:');
  // Browsers take a cookie with this prefix from https and this very host only, so no sibling domain can plant one.
  const cookie = { name: secure ? '__Host-payments_session' : 'payments_session', secure };
  const cookieOf: Gates['cookieOf'] = ({ headers }) => parseCookies(headers.cookie).get(cookie.name);

  function remember(request: FastifyRequest, caller: Caller | undefined): void {
    if (caller === undefined) throw unauthorized();
    request.caller = caller;
  }

  function identifyKey(request: FastifyRequest, authorization: string): void | Promise<void> {
    const token = bearerToken(authorization);
    if (token === undefined) throw unauthorized();
    refuseForeignPages(request, origins);
    const caller = keys.authenticate(token);
    if (caller instanceof Promise) return caller.then((found) => remember(request, found));
    return remember(request, caller);
  }

  /** The person behind the cookie; a page of another site is refused before anything is looked up. */
  async function identifyPerson(request: FastifyRequest): Promise<PersonCaller> {
    const token = cookieOf(request);
    if (token === undefined) throw unauthorized();
    requireSameOrigin(request, origins);
    const person = await people.findCaller(token);
    if (person === undefined) throw unauthorized();
    request.person = person;
    return person;
  }

  async function identifyMember(request: FastifyRequest): Promise<void> {
    const mode = modeOf(request);
    const person = await identifyPerson(request);
    request.caller = callerOf(person, membershipOf(request, person), mode);
  }

  const isOperator = ({ headers, person }: Asked) =>
    headers.authorization === undefined
      ? person?.operator === true
      : equalSecrets(bearerToken(headers.authorization) ?? '', adminToken);

  function permit(need: RouteAccess): ((asked: Asked) => void) | null {
    if (need === 'public' || need === 'visitor') return null;
    if (need === 'operator' || need === 'admin_token') {
      return (asked) => {
        if (!isOperator(asked)) throw errors.forbidden();
      };
    }
    if (need === 'person') return requirePerson;
    if (isRole(need)) return (asked) => requireRole(asked, need);
    const sandboxOnly = need.startsWith('test:');
    const scope = (sandboxOnly ? need.slice('test:'.length) : need) as Scope;
    return (asked) => checkNeeds(asked, { scope, sandboxOnly });
  }

  /** As the member is by now, who may have been removed or given another role while the body came. */
  async function holdMember({ headers, person, caller }: Asked, tx: Queryable): Promise<Asked> {
    if (person === null || !(await people.holdSession(tx, person))) throw unauthorized();
    const { organisationId, mode } = caller.tenant;
    const role = await people.holdRole(tx, { organisationId, userId: person.userId });
    const membership = role && person.membership ? { ...person.membership, role } : null;
    const now = { ...person, membership };
    return { headers, person: now, caller: callerOf(now, membershipOf({ headers }, now), mode) };
  }

  const holdCaller: Gates['holdCaller'] = async (request, tx, need = declaredNeed(request)) => {
    if (request.person !== null) permit(need)?.(await holdMember(request, tx));
    else if (!(await keys.holdKey(tx, request.caller.keyId))) throw unauthorized();
  };

  return {
    cookie,
    cookieOf,

    identify(need) {
      if (need === 'public') return null;
      // A foreign page must not be able to log a browser into an account of its choice either.
      if (need === 'visitor') return (request) => requireSameOrigin(asJson(request), origins);
      return (request) => {
        const { authorization } = request.headers;
        if (authorization === undefined) {
          if (need === 'admin_token') throw unauthorized();
          if (need === 'person' || need === 'operator') return identifyPerson(request).then(() => {});
          return identifyMember(request);
        }
        if (need !== 'operator' && need !== 'admin_token') return identifyKey(request, authorization);
        if (bearerToken(authorization) === undefined) throw unauthorized();
      };
    },

    rate(rateClass) {
      if (rateClass === 'none') return null;
      if (rateClass === 'address') return ({ ip }, reply) => rates.address.enforce(addressKey(ip), reply);
      if (rateClass === 'operator') {
        return ({ person }, reply) =>
          person === null ? undefined : rates.person.enforce(person.userId, reply);
      }
      if (rateClass === 'person') {
        return ({ person, caller }, reply) => rates.person.enforce(person?.userId ?? caller.keyId, reply);
      }
      return ({ caller }, reply) => rates[caller.tenant.mode].enforce(caller.keyId, reply);
    },

    permit,
    holdCaller,

    async holdCallerAndTenant(request, tx) {
      const { person, caller } = request;
      // In the order of who takes over an address: sessions, the organisation, its keys.
      if (person !== null) await holdCaller(request, tx);
      const tenant = await keys.holdTenant(tx, caller.tenant);
      if (person === null) await holdCaller(request, tx);
      return tenant;
    },

    async stillAllowed(request, scope) {
      const { authorization } = request.headers;
      const { caller } = request;
      if (authorization !== undefined) {
        const found = await keys.authenticate(bearerToken(authorization) ?? '');
        return found?.keyId === caller.keyId && found.tenant.id === caller.tenant.id;
      }
      const person = await people.findCaller(cookieOf(request) ?? '');
      if (person?.membership == null || person.userId !== caller.keyId) return false;
      const now = callerOf(person, person.membership, caller.tenant.mode);
      return now.tenant.id === caller.tenant.id && now.scopes.has(scope);
    },
  };
}

function declaredNeed({ routeOptions }: FastifyRequest): RouteAccess {
  return routeOptions.config.declared?.access as RouteAccess;
}

function checkNeeds({ caller, person }: Asked, { scope, sandboxOnly }: Needs): void {
  if (sandboxOnly && caller.tenant.mode === 'live') throw errors.wrong_mode();
  if (!caller.scopes.has(scope)) {
    if (person !== null) throw errors.insufficient_role();
    throw errors.insufficient_scope({
      detail: `This key lacks the scope ${scope}.`,
      extra: { required_scope: scope },
    });
  }
  if (person !== null) requireLiveAccess(person, caller, scope);
}

/** Who may make no live key may not do with a cookie what needs one. */
function requireLiveAccess({ membership }: PersonCaller, caller: Caller, scope: Scope): void {
  const changesLive = caller.tenant.mode === 'live' && scope.endsWith(':write');
  if (changesLive && membership?.liveAccess !== 'approved') throw errors.live_access_required();
}

function requirePerson({ person }: Asked): void {
  if (person === null) throw errors.person_required();
}

function requireRole({ person }: Asked, needed: Role): void {
  if (person === null) throw errors.person_required();
  if (person.membership === null || !reaches(person.membership.role, needed)) {
    throw errors.insufficient_role({ extra: { required_role: needed } });
  }
}

function callerOf(person: PersonCaller, membership: Membership, mode: Mode): Caller {
  const { organisationId, testEpoch, role } = membership;
  return {
    tenant: tenantOf(organisationId, mode, mode === 'test' ? testEpoch : 0),
    keyId: person.userId,
    scopes: scopesOf(role),
  };
}

/** A page says which organisation it shows: another tab may have switched the session since. */
function membershipOf({ headers }: Pick<Asked, 'headers'>, { membership }: PersonCaller): Membership {
  const shown = headers['payments-organisation'];
  if (shown !== undefined && shown !== membership?.organisationId) throw errors.organisation_switched();
  if (membership === null) throw errors.no_organisation();
  return membership;
}

function modeOf({ headers }: FastifyRequest): Mode {
  const mode = headers['payments-mode'] ?? 'test';
  if (mode === 'test' || mode === 'live') return mode;
  throw errors.invalid_header({
    errors: [{ parameter: 'payments-mode', code: 'not_allowed', detail: 'Must be test or live.' }],
  });
}

/** What needs no cookie but sets one has its content type checked by the parser. */
function asJson({ method, headers }: FastifyRequest) {
  return { method, headers: { ...headers, 'content-type': 'application/json' } };
}

export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.startsWith('Bearer ')) return header.slice(7).trim() || undefined;
  return /^bearer +([!-~]+) *$/i.exec(header)?.[1];
}

export function unauthorized(): Error {
  return errors.unauthorized({ headers: { 'www-authenticate': 'Bearer realm="payments"' } });
}
