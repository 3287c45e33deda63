import { hash } from 'node:crypto';
import { type App, noteAudit, parseCookies, serializeCookie } from '@libs/http';
import { AppError } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../customers/access.ts';
import type { BearerResolver, Session } from '../customers/identity.ts';
import type { CustomerService } from '../customers/service.ts';
import type { TokenService } from '../customers/tokens.ts';
import type { RoutesOn } from '../route-rules.ts';
import { sendPage } from './pages/form.ts';
import { problemPage, snippetsPage } from './pages/pages.ts';
import { OWN_CLIENT_ID } from './provider/own-client.ts';
import { oauthPaths } from './provider/provider.ts';
import type { OAuthService } from './service.ts';

export interface AssistantRoutesDependencies {
  oauth: OAuthService;
  customers: CustomerService;
  tokens: TokenService;
  access: Access;
  resolveBearer: BearerResolver;
  publicUrl: string;
  routesOn: RoutesOn;
  now: () => Date;
}

const CONNECT = '/oauth/connect-mcp';
const CALLBACK = '/oauth/mcp-callback';
const TOKEN_DAYS = 90;
const SHOWN_COOKIE = 'toolhub_snippets';
const SHOWN_SECONDS = 24 * 60 * 60;

interface Answer {
  state?: string;
  code?: string;
  error?: string;
  iss?: string;
}

/** Why the flow ended without a page of snippets, in words for the person who sees it. */
class ConnectFailure extends Error {
  override readonly name: string = 'ConnectFailure';
}

/** A reload, or a way back: what was shown is shown once. */
class ShownBefore extends ConnectFailure {
  override readonly name = 'ShownBefore';
}

/** The way from the dashboard to a client's configuration: the platform's own client, run on the server side. */
export function registerAssistantRoutes(app: App, deps: AssistantRoutesDependencies): void {
  const routes = deps.routesOn(app);
  const shared = { access: 'public', rate: 'pages', idempotency: 'repeats', schema: { hide: true } } as const;
  routes.get(CONNECT, { ...shared, audit: 'none' }, async (_request, reply) =>
    reply.redirect(await deps.oauth.beginConnect(), 302),
  );
  routes.get(CALLBACK, { ...shared, audit: { action: 'token.created' } }, async (request, reply) => {
    try {
      return await showSnippets(app, deps, request, reply);
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      const wasShown = error instanceof ShownBefore;
      const page = problemPage({
        title: wasShown ? 'The snippets were shown once' : 'Not connected',
        detail: error.message,
        retryLink: CONNECT,
        retryText: wasShown ? 'Make new snippets' : 'Try again',
      });
      return sendPage(reply, page, 400);
    }
  });
}

async function showSnippets(
  app: App,
  deps: AssistantRoutesDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const code = await checkAnswer(deps, request, answerOf(request));
  const session = await redeem(app, deps, code, request);
  const customer = await deps.customers.find(session.customerId);
  if (customer === undefined) throw new ConnectFailure('The account does not exist any more.');
  const token = await makeToken(deps, session, request);
  return sendPage(
    reply.header('set-cookie', rememberShown(deps, request)),
    snippetsPage({ mcpUrl: `${deps.publicUrl}/mcp`, token, tokenDays: TOKEN_DAYS, email: customer.email }),
  );
}

/** A browser that has seen the page is told so when it asks again; anybody else learns nothing of the state. */
function rememberShown({ access }: AssistantRoutesDependencies, request: FastifyRequest): string {
  return serializeCookie(SHOWN_COOKIE, shownMark(answerOf(request).state ?? ''), {
    ...{ secure: access.secureCookies, sameSite: 'Lax', path: CALLBACK, maxAgeSeconds: SHOWN_SECONDS },
  });
}

function wasShownTo(request: FastifyRequest, state: string): boolean {
  return parseCookies(request.headers.cookie).get(SHOWN_COOKIE) === shownMark(state);
}

function shownMark(state: string): string {
  return hash('sha256', state, 'base64url');
}

/** A parameter that comes twice counts as none. */
function answerOf(request: FastifyRequest): Answer {
  const answer: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    if (typeof value === 'string') answer[name] = value;
  }
  return answer;
}

async function checkAnswer(
  deps: AssistantRoutesDependencies,
  request: FastifyRequest,
  answer: Answer,
): Promise<Record<string, string>> {
  const { state = '', code, error, iss } = answer;
  if (iss !== undefined && iss !== deps.publicUrl)
    throw new ConnectFailure('The answer comes from another server.');
  if (error !== undefined || code === undefined) {
    const known = await deps.oauth.dropConnect(state);
    if (known && error === 'access_denied') throw new ConnectFailure('You did not allow the connection.');
    throw new ConnectFailure('The login ended without a result.');
  }
  const form = await deps.oauth.finishConnect({ state, code });
  if (form === undefined)
    throw new (wasShownTo(request, state) ? ShownBefore : ConnectFailure)(
      'This page was opened a second time, or too much time has passed since the start. What it showed the first time still works: its token is listed under Tokens in the dashboard, where you can revoke it. To see snippets again, make new ones.',
    );
  return form;
}

/**
 * Exchanges the code and gives the result back at once: it has proved whose browser this is, and the snippets need a
 * token that their owner can see and revoke. A code that was given to another account than the one that is logged in
 * here was planted by somebody else.
 */
async function redeem(
  app: App,
  deps: AssistantRoutesDependencies,
  form: Record<string, string>,
  request: FastifyRequest,
): Promise<Session> {
  const cookie = deps.access.cookieOf(request);
  const login = cookie === undefined ? undefined : await deps.customers.resolveCookie(cookie);
  const accessToken = await postToken(app, form, request);
  const session = await deps.resolveBearer(accessToken);
  await postForm(app, oauthPaths.revoke, { client_id: OWN_CLIENT_ID, token: accessToken }, request);
  const isSame = session?.kind === 'customer' && session.customerId === login?.session.customerId;
  if (!isSame) throw new ConnectFailure('You are not logged in as the account that was connected.');
  return login.session;
}

async function postToken(app: App, form: Record<string, string>, request: FastifyRequest): Promise<string> {
  const answer = await postForm(app, oauthPaths.token, form, request);
  const accessToken: unknown = answer.statusCode === 200 ? answer.json().access_token : undefined;
  if (typeof accessToken !== 'string')
    throw new ConnectFailure('The code could not be exchanged for a token.');
  return accessToken;
}

function postForm(app: App, url: string, form: Record<string, string>, request: FastifyRequest) {
  return app.inject({
    method: 'POST',
    url,
    headers: {
      host: request.headers.host ?? '',
      'content-type': 'application/x-www-form-urlencoded',
      'x-request-id': request.id,
    },
    payload: new URLSearchParams(form).toString(),
    remoteAddress: request.ip,
  });
}

async function makeToken(
  deps: AssistantRoutesDependencies,
  session: Session,
  request: FastifyRequest,
): Promise<string> {
  const { customerId } = session;
  const day = deps.now().toISOString().slice(0, 10);
  try {
    const { record, token } = await deps.tokens.create({
      customerId,
      standing: deps.access.standingOf(session),
      name: `AI client, connected ${day}`,
      scopes: ['tools:read', 'tools:write'],
      expiresInDays: TOKEN_DAYS,
    });
    noteAudit(request, { subject: customerId, target: record.id });
    return token;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'conflict') throw new ConnectFailure(error.detail);
    throw error;
  }
}
