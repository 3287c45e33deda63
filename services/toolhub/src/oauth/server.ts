import type { Database } from '@libs/db';
import type { App, RateLimit } from '@libs/http';
import { addressKey } from '@libs/http';
import type { NewId } from '@libs/seal';
import type { Context, ErrorBody } from 'oidc-provider';
import type { Suspensions } from '../admin/suspensions.ts';
import type { Actor } from '../audit/entry.ts';
import type { AuditService } from '../audit/service.ts';
import type { Access } from '../customers/access.ts';
import type { BearerResolver } from '../customers/identity.ts';
import type { Revocations } from '../customers/revocations.ts';
import type { CustomerService } from '../customers/service.ts';
import type { TokenService } from '../customers/tokens.ts';
import type { RoutesOn } from '../route-rules.ts';
import { registerAssistantRoutes } from './assistant-routes.ts';
import { registerGrantRoutes } from './grants-routes.ts';
import { registerInteractionRoutes } from './pages/interaction-routes.ts';
import { registerLoginRoutes } from './pages/login-routes.ts';
import { problemPage } from './pages/pages.ts';
import { createAdapter } from './provider/adapter.ts';
import { Arrivals } from './provider/arrivals.ts';
import { shownClient } from './provider/own-client.ts';
import { checkResource, createProvider, type FetchDocument, oauthPaths } from './provider/provider.ts';
import { letOthersArrive } from './provider/spending.ts';
import { type OAuthRoutesDependencies, registerOAuthRoutes } from './routes.ts';
import type { OAuthService } from './service.ts';

export interface OAuthServerDependencies {
  database: Database;
  publicUrl: string;
  oauth: OAuthService;
  customers: CustomerService;
  tokens: TokenService;
  access: Access;
  audit: AuditService;
  suspensions: Pick<Suspensions, 'isSuspended' | 'refusal'>;
  routesOn: RoutesOn;
  resolveBearer: BearerResolver;
  revocations: Pick<Revocations, 'transaction'>;
  addressLimit: RateLimit;
  fetchDocument: FetchDocument;
  newId: NewId;
  now: () => Date;
}

/** Builds the authorization server and puts its endpoints and pages into the app. */
export function registerOAuthServer(app: App, deps: OAuthServerDependencies): void {
  const { publicUrl, customers, access, audit, suspensions, routesOn, addressLimit, now } = deps;
  const arrivals = new Arrivals();
  const actorBehind = async (clientId: string): Promise<Actor> => ({
    type: 'oauth',
    id: shownClient(clientId),
    name: await deps.oauth.clientName(clientId),
  });
  const sessionOf: OAuthRoutesDependencies['sessionOf'] = async (request) => {
    const cookie = access.cookieOf(request);
    return cookie === undefined ? undefined : customers.resolveCookie(cookie);
  };
  const adapter = createAdapter({
    ...deps,
    arrivals,
    returnTo: (interactionId) => `${publicUrl}${oauthPaths.authorize}/${interactionId}`,
    checkResource: (ctx) => checkResource(ctx, publicUrl),
    async onFamilyRevoked({ customerId, clientId }) {
      const arrival = arrivals.current();
      await audit.record([
        {
          customerId,
          actor: await actorBehind(clientId),
          action: 'oauth.revoked',
          target: shownClient(clientId),
          outcome: 'success',
          ip: arrival?.ip ?? null,
          requestId: arrival?.requestId ?? null,
        },
      ]);
    },
  });
  const provider = createProvider({
    publicUrl,
    adapter,
    sessionOf: ({ req }) => sessionOf(req),
    // A suspended customer gets no tokens, neither new ones nor renewed ones.
    accountExists: async (customerId) =>
      !suspensions.isSuspended(customerId) && (await customers.find(customerId)) !== undefined,
    hasConsent: deps.oauth.hasConsent,
    fetchDocument: deps.fetchDocument,
    // To name a document is a way to register, so it counts like one.
    mayFetchDocument: async () => {
      const address = arrivals.address();
      return address !== undefined && (await addressLimit.take(addressKey(address))).allowed;
    },
    renderError,
    onExchanged: async ({ req }, spent) => {
      const arrival = arrivals.of(req);
      await audit.record([
        {
          customerId: spent.customerId,
          actor: await actorBehind(spent.clientId),
          action: spent.kind === 'code' ? 'oauth.token.issued' : 'oauth.token.refreshed',
          target: shownClient(spent.clientId),
          outcome: 'success',
          ip: arrival?.ip ?? null,
          requestId: arrival?.requestId ?? null,
        },
      ]);
      await letOthersArrive();
      await deps.oauth.markExchanged(spent);
    },
  });
  provider.on('server_error', ({ req }, error) => {
    app.log.error({ err: error, request_id: arrivals.of(req)?.requestId }, 'the OAuth server failed');
  });
  // What escapes the library's own handlers, such as a connection that breaks while an answer is written.
  provider.on('error', (error) => app.log.error({ err: error }, 'the OAuth server failed'));
  const { oauth } = deps;
  const pages = {
    ...{ provider, arrivals, publicUrl, oauth, customers, access },
    ...{ suspensions, routesOn, addressLimit },
  };
  registerOAuthRoutes(app, {
    ...{ provider, publicUrl, arrivals, sessionOf, suspensions, routesOn, addressLimit, now },
  });
  registerLoginRoutes(app, pages);
  registerInteractionRoutes(app, pages);
  registerAssistantRoutes(app, deps);
  registerGrantRoutes(routesOn(app), deps);
}

const explanations: Record<string, string> = {
  invalid_client: 'The application that sent you here is not known. It has to register first.',
  invalid_redirect_uri: 'The application asks to be answered at an address that it has not registered.',
  server_error: 'Something went wrong here. Try again.',
};

/** For errors that cannot be told to the client, since it is not known where it is. */
function renderError(ctx: Context, { error, error_description: description }: ErrorBody): void {
  const detail =
    explanations[error] ?? `The application sent a request that cannot be answered: ${description ?? error}.`;
  const page = problemPage({
    title: 'This does not work',
    detail: `${detail} (${error}) Nothing was shared with it. Go back to it and begin again, or tell whoever makes it.`,
  });
  ctx.type = 'html';
  ctx.set('content-security-policy', page.csp);
  ctx.body = page.html;
}
