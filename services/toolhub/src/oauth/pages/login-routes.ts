import { type App, acceptedOrigins, type Gatekeeper } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Access } from '../../customers/access.ts';
import type { CustomerService } from '../../customers/service.ts';
import type { RoutesOn } from '../../route-rules.ts';
import type { Arrivals } from '../provider/arrivals.ts';
import { loginAddress, oauthPaths } from '../provider/provider.ts';
import { isStorable } from '../provider/storable.ts';
import { restartUrl, viewOfClient } from './consent.ts';
import { acceptForms, requireOwnForm, sendPage } from './form.ts';
import {
  createLoginForms,
  type LoginFormDependencies,
  type LoginPlace,
  showLogin,
  showSignup,
} from './login-form.ts';
import { problemPage } from './pages.ts';

export interface LoginRoutesDependencies extends LoginFormDependencies {
  provider: Provider;
  arrivals: Arrivals;
  publicUrl: string;
  routesOn: RoutesOn;
  customers: CustomerService;
  access: Access;
}

const REQUEST_CHARACTERS_MAX = 12_000;
const UNREADABLE = problemPage({
  title: 'This does not work',
  detail: 'The address of this page is damaged. Go back to the application and connect again.',
});

/**
 * Login for an authorization request of somebody who is not logged in. The request is in the address of the page, so
 * that nothing has to be stored for strangers.
 */
export function registerLoginRoutes(app: App, deps: LoginRoutesDependencies): void {
  const forms = createLoginForms(deps);
  const origins = acceptedOrigins(deps.publicUrl);
  const checkForm: Gatekeeper = (request) => requireOwnForm(request, origins);

  const withPlace =
    (handle: (request: FastifyRequest, reply: FastifyReply, place: LoginPlace) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const params = readRequest((request.query as { request?: unknown }).request);
      if (params === undefined) return sendPage(reply, UNREADABLE, 400);
      const { clientName } = await viewOfClient({ ...deps, ip: request.ip }, params);
      const [login, signup] = [loginAddress(params), loginAddress(params, oauthPaths.signup)];
      return handle(request, reply, {
        ...{ clientName, loginAction: login, signupAction: signup, loginLink: login, signupLink: signup },
        comeBackTo: login,
        proceed: async (answer) => answer.redirect(restartUrl(params), 303),
      });
    };

  /** Who is logged in by now has nothing to do here. */
  async function isLoggedIn(request: FastifyRequest): Promise<boolean> {
    const cookie = deps.access.cookieOf(request);
    return cookie !== undefined && (await deps.customers.resolveCookie(cookie)) !== undefined;
  }
  const show = (page: typeof showLogin | typeof showSignup) =>
    withPlace(async (request, reply, place) =>
      (await isLoggedIn(request)) ? place.proceed(reply) : sendPage(reply, page(place)),
    );

  app.register(async (scope) => {
    acceptForms(scope as unknown as App);
    const routes = deps.routesOn(scope as unknown as App);
    const page = {
      access: 'public',
      rate: 'pages',
      audit: 'none',
      idempotency: 'safe',
      schema: { hide: true },
    } as const;
    const form = { ...page, idempotency: 'repeats', preParsing: asHook(checkForm) } as const;
    routes.get(oauthPaths.login, page, show(showLogin));
    routes.get(oauthPaths.signup, page, show(showSignup));
    routes.post(
      oauthPaths.login,
      { ...form, audit: { action: 'session.started' } },
      withPlace((request, reply, place) => forms.logIn(request, reply, place)),
    );
    routes.post(
      oauthPaths.signup,
      { ...form, audit: { action: 'account.created' } },
      withPlace((request, reply, place) => forms.signUp(request, reply, place)),
    );
  });
}

/** Before the body is read, as every check of who sends it. */
export function asHook(check: Gatekeeper) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => check(request, reply);
}

/** The parameters of the authorization request; undefined where the address is not one that we gave out. */
function readRequest(encoded: unknown): Record<string, string | string[]> | undefined {
  if (typeof encoded !== 'string' || encoded.length > REQUEST_CHARACTERS_MAX) return undefined;
  const query = new URLSearchParams(Buffer.from(encoded, 'base64url').toString('utf8'));
  const params: Record<string, string | string[]> = Object.create(null);
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (![name, ...values].every(isStorable)) return undefined;
    params[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return typeof params.client_id === 'string' ? params : undefined;
}
