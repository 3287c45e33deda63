import { acceptedOrigins, type Gatekeeper, parseCookies, requireSameOrigin } from '@libs/http';
import { equalSecrets } from '@libs/seal';
import type { FastifyRequest } from 'fastify';
import { errors } from '../errors.ts';
import type { BearerResolver, InternalSession, Scope, Session } from './identity.ts';
import type { CustomerService } from './service.ts';
import type { Standing } from './standing.ts';
import { isStillIn } from './standing-store.ts';

export interface AccessDependencies {
  publicUrl: string;
  adminToken: string;
  resolveBearer: BearerResolver;
  resolveCookie: CustomerService['resolveCookie'];
}

/**
 * Who may call a route: everybody (`public`); everybody, though not from another site (`visitor`), and then with JSON
 * (`own_site`); everybody, though a credential that is sent must be good (`anyone`); a customer with the scope; a person
 * who is logged in and no token (`person`); the operator.
 */
export type RouteAccess =
  | 'public'
  | 'visitor'
  | 'own_site'
  | 'anyone'
  | 'account:read'
  | 'account:write'
  | 'person'
  | 'admin';

/** Who sent a request, where somebody was identified. */
export type RequestCaller = Session | InternalSession | 'admin';

/** Who may call what under `/api`. The hooks run before the body is read. */
export interface Access {
  /** For declared routes: finds the caller, and refuses bad credentials and, where one is needed, none. */
  identify(need: RouteAccess): Gatekeeper | null;
  /** For declared routes: refuses callers without the right. */
  permit(need: RouteAccess): Gatekeeper | null;
  callerOf(request: FastifyRequest): RequestCaller | undefined;
  /** The session of a customer's request. */
  sessionOf(request: FastifyRequest): Session;
  sessionIfAny(request: FastifyRequest): Session | undefined;
  /** Whether the caller may still come in, for the transaction that stores what a call waited for. */
  standingOf(session: Session): Standing;
  /** The value of the session cookie, whether or not it stands for a live session. */
  cookieOf(request: Pick<FastifyRequest, 'headers'>): string | undefined;
  readonly cookieName: string;
  readonly secureCookies: boolean;
}

export function createAccess(deps: AccessDependencies): Access {
  const sessions = new WeakMap<FastifyRequest, Session>();
  const callers = new WeakMap<FastifyRequest, RequestCaller>();
  const origins = acceptedOrigins(deps.publicUrl);
  const secureCookies = deps.publicUrl.startsWith('https:');
  // Browsers take a cookie with this prefix from https and this very host only, so no sibling domain can plant one.
  const cookieName = secureCookies ? '__Host-toolhub_session' : 'toolhub_session';
  const metadata = `resource_metadata="${deps.publicUrl}/.well-known/oauth-protected-resource"`;

  function unauthenticated(problem?: 'invalid_token') {
    const error = problem === undefined ? '' : `, error="${problem}"`;
    return errors.unauthenticated({
      headers: { 'www-authenticate': `Bearer ${metadata}, scope="account:read"${error}` },
    });
  }

  function insufficientScope(scope: Scope) {
    return errors.insufficient_scope({
      detail: `This call needs the scope ${scope}.`,
      headers: { 'www-authenticate': `Bearer ${metadata}, error="insufficient_scope", scope="${scope}"` },
    });
  }

  const cookieOf = ({ headers }: Pick<FastifyRequest, 'headers'>) =>
    parseCookies(headers.cookie).get(cookieName);

  async function fromBearer(authorization: string): Promise<Session | InternalSession> {
    const token = bearerToken(authorization);
    const session = token === undefined ? null : await deps.resolveBearer(token);
    if (session === null) throw unauthenticated('invalid_token');
    return session;
  }

  async function fromCookie(request: FastifyRequest, cookie: string): Promise<Session> {
    requireSameOrigin(request, origins);
    const found = await deps.resolveCookie(cookie);
    if (found === undefined) throw unauthenticated();
    return found.session;
  }

  async function find(request: FastifyRequest): Promise<Session | InternalSession | undefined> {
    const { authorization } = request.headers;
    if (authorization !== undefined) return fromBearer(authorization);
    const cookie = cookieOf(request);
    return cookie === undefined ? undefined : fromCookie(request, cookie);
  }

  const isAdmin = ({ headers }: FastifyRequest) =>
    equalSecrets(bearerToken(headers.authorization ?? '') ?? '', deps.adminToken);

  /** A foreign page must not be able to log a browser into an account of its choice either. */
  function requireOwnSite({ method, headers }: FastifyRequest, need: 'visitor' | 'own_site'): void {
    // What needs no cookie but sets one has its content type checked by the parser.
    const checked = need === 'own_site' ? headers : { ...headers, 'content-type': 'application/json' };
    requireSameOrigin({ method, headers: checked }, origins);
  }

  async function identifyCaller(request: FastifyRequest, need: RouteAccess): Promise<void> {
    const isForOperator = (need === 'admin' || need === 'anyone') && isAdmin(request);
    const caller = isForOperator ? 'admin' : await find(request);
    if (caller !== undefined) callers.set(request, caller);
    else if (need !== 'anyone') throw unauthenticated();
  }

  function permitCaller(request: FastifyRequest, need: RouteAccess): void {
    const caller = callers.get(request);
    if (caller === undefined || caller === 'admin') return;
    if (need === 'admin') throw errors.forbidden({ detail: 'This call needs the admin token.' });
    if (caller.kind === 'internal') throw errors.forbidden({ detail: 'An internal session has no account.' });
    if (need === 'person' && caller.via !== 'cookie') throw errors.person_required();
    const scope: Scope = need === 'account:write' ? need : 'account:read';
    if (!caller.scopes.includes(scope)) throw insufficientScope(scope);
    sessions.set(request, caller);
  }

  return {
    cookieName,
    secureCookies,
    cookieOf,
    identify(need) {
      if (need === 'public') return null;
      if (need === 'visitor' || need === 'own_site') return (request) => requireOwnSite(request, need);
      return (request) => identifyCaller(request, need);
    },
    permit: (need) => (isForEverybody(need) ? null : (request) => permitCaller(request, need)),
    callerOf: (request) => callers.get(request),
    sessionOf(request) {
      const session = sessions.get(request);
      if (session === undefined)
        throw new Error(`${request.routeOptions.url} reads a session that no hook made`);
      return session;
    },
    sessionIfAny: (request) => sessions.get(request),
    standingOf: (session) => async (tx) => {
      if (!(await isStillIn(tx, session))) throw unauthenticated();
    },
  };
}

function isForEverybody(need: RouteAccess): boolean {
  return need === 'public' || need === 'visitor' || need === 'own_site';
}

/** RFC 6750: the scheme compares without case, the token has no spaces. */
export function bearerToken(authorization: string): string | undefined {
  return /^Bearer +([!-~]+)$/i.exec(authorization)?.[1];
}
