import { type App, acceptedOrigins, expireCookie, type RateLimit } from '@libs/http';
import { AppError } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { type Interaction, errors as oauthErrors } from 'oidc-provider';
import type { AuditService } from '../../audit/service.ts';
import type { Access } from '../../customers/access.ts';
import { addressKey } from '../../customers/address-key.ts';
import { sessionCookie } from '../../customers/routes.ts';
import type { CookieSession, CustomerService, SignedIn } from '../../customers/service.ts';
import { shownClient } from '../provider/own-client.ts';
import { oauthPaths } from '../provider/provider.ts';
import { grantConsent, restartUrl, signupFault, viewOfClient, viewOfConsent } from './consent.ts';
import { acceptForms, formOf, requireOwnForm, sendPage } from './form.ts';
import { consentPage, loginPage, problemPage, signupPage } from './pages.ts';

export interface InteractionRoutesDependencies {
  provider: Provider;
  publicUrl: string;
  customers: CustomerService;
  access: Access;
  audit: AuditService;
  addressLimit: RateLimit;
}

type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
  interaction: Interaction,
) => Promise<FastifyReply>;

/** An interaction whose page can no longer be answered, in words for the person who sees it. */
const EXPIRED = problemPage({
  title: 'This request is over',
  detail:
    'It was answered already, or too much time has passed. Go back to the application and connect again.',
});

/** The login and consent pages: plain forms, one address per authorization request. */
export function registerInteractionRoutes(app: App, deps: InteractionRoutesDependencies): void {
  const origins = acceptedOrigins(deps.publicUrl);
  const page = `${oauthPaths.interaction}/:uid`;
  const withInteraction = (handle: Handler) => async (request: FastifyRequest, reply: FastifyReply) => {
    const interaction = await findInteraction(deps.provider, request, reply);
    return interaction === undefined ? sendPage(reply, EXPIRED, 400) : handle(request, reply, interaction);
  };
  const schema = { hide: true };
  app.register(async (scope) => {
    acceptForms(scope as unknown as App);
    scope.get(page, { schema }, withInteraction(createShow(deps)));
    const form = { schema, onRequest: async (request: FastifyRequest) => requireOwnForm(request, origins) };
    // A form without an address of its own is sent to its page.
    const [login, consent] = [createLogin(deps), createConsent(deps)];
    const byPrompt: Handler = (request, reply, interaction) =>
      (interaction.prompt.name === 'consent' ? consent : login)(request, reply, interaction);
    scope.post(page, form, withInteraction(byPrompt));
    scope.post(`${page}/login`, form, withInteraction(login));
    scope.post(`${page}/signup`, form, withInteraction(createSignup(deps)));
    scope.post(`${page}/consent`, form, withInteraction(consent));
    scope.post(`${page}/switch`, form, withInteraction(createSwitch(deps)));
  });
}

async function findInteraction(
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Interaction | undefined> {
  try {
    const interaction = await provider.interactionDetails(request.raw, reply.raw);
    return interaction.uid === (request.params as { uid: string }).uid ? interaction : undefined;
  } catch (error) {
    if (error instanceof oauthErrors.SessionNotFound) return undefined;
    throw error;
  }
}

async function currentSession(
  { access, customers }: InteractionRoutesDependencies,
  request: FastifyRequest,
): Promise<CookieSession | undefined> {
  const cookie = access.cookieOf(request);
  return cookie === undefined ? undefined : customers.resolveCookie(cookie);
}

const addressesOf = ({ uid }: Interaction) => ({
  page: `${oauthPaths.interaction}/${uid}`,
  login: `${oauthPaths.interaction}/${uid}/login`,
  signup: `${oauthPaths.interaction}/${uid}/signup`,
  consent: `${oauthPaths.interaction}/${uid}/consent`,
  switch: `${oauthPaths.interaction}/${uid}/switch`,
});

/** Reasons to log in that an existing session does not answer. */
const FRESH_LOGIN: ReadonlySet<string> = new Set(['login_prompt', 'max_age']);

function createShow(deps: InteractionRoutesDependencies): Handler {
  return async (request, reply, interaction) => {
    const session = await currentSession(deps, request);
    const { prompt } = interaction;
    if (prompt.name === 'consent') return showConsent(deps, request, reply, interaction);
    if (session !== undefined && !prompt.reasons.some((reason) => FRESH_LOGIN.has(reason)))
      return restart(reply, interaction);
    const { clientName } = await viewOfClient(deps.provider, interaction);
    const addresses = addressesOf(interaction);
    const wantsSignup = 'signup' in (request.query as object);
    return sendPage(
      reply,
      wantsSignup
        ? signupPage({ action: addresses.signup, loginLink: addresses.page, clientName })
        : loginPage({ action: addresses.login, signupLink: `${addresses.page}?signup`, clientName }),
    );
  };
}

async function showConsent(
  deps: InteractionRoutesDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  interaction: Interaction,
  problem?: string,
): Promise<FastifyReply> {
  const session = await currentSession(deps, request);
  const customer = session && (await deps.customers.find(session.session.customerId));
  // Logged out, or in as somebody else, since this page was asked for: begin again as who it is now.
  if (customer === undefined || session?.id !== interaction.session?.uid) return restart(reply, interaction);
  const addresses = addressesOf(interaction);
  const view = await viewOfConsent(deps.provider, interaction);
  return sendPage(
    reply,
    consentPage({
      ...view,
      action: addresses.consent,
      switchAction: addresses.switch,
      email: customer.email,
      ...(problem === undefined ? {} : { problem }),
    }),
    problem === undefined ? 200 : 400,
  );
}

function restart(reply: FastifyReply, interaction: Interaction): FastifyReply {
  return reply.redirect(restartUrl(interaction), 303);
}

async function proceed(
  deps: InteractionRoutesDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  interaction: Interaction,
  signedIn: SignedIn & { action: string },
): Promise<FastifyReply> {
  const { customer, sessionToken, action } = signedIn;
  void deps.audit.record([
    {
      customerId: customer.id,
      actor: { type: 'customer', id: customer.id },
      action,
      target: null,
      outcome: 'success',
      ip: request.ip,
      requestId: request.id,
    },
  ]);
  await interaction.destroy();
  reply.header('set-cookie', sessionCookie(deps.access, sessionToken));
  return restart(reply, interaction);
}

function createLogin(deps: InteractionRoutesDependencies): Handler {
  return async (request, reply, interaction) => {
    const form = formOf(request);
    const email = form.get('email') ?? '';
    const addresses = addressesOf(interaction);
    const { clientName } = await viewOfClient(deps.provider, interaction);
    const refuse = (problem: string, status: number) =>
      sendPage(
        reply,
        loginPage({
          action: addresses.login,
          signupLink: `${addresses.page}?signup`,
          clientName,
          email,
          problem,
        }),
        status,
      );
    try {
      await deps.addressLimit.enforce(addressKey(request.ip), reply);
      const outcome = await deps.customers.login({ email, password: form.get('password') ?? '' });
      if (outcome.ok)
        return await proceed(deps, request, reply, interaction, { ...outcome, action: 'session.started' });
      return refuse('The e-mail address or the password is wrong.', 401);
    } catch (error) {
      return refuse(explainRefusal(error, reply), (error as AppError).status);
    }
  };
}

/** What may go wrong with a login or sign-up, for the page; anything else goes on to the error handler. */
function explainRefusal(error: unknown, reply: FastifyReply): string {
  if (!(error instanceof AppError) || error.kind === 'internal') throw error;
  const retryAfter = error.headers?.['retry-after'];
  if (retryAfter === undefined) return error.detail;
  reply.header('retry-after', retryAfter);
  const minutes = Math.ceil(Number(retryAfter) / 60);
  return `Too many tries. Wait ${minutes > 1 ? `${minutes} minutes` : 'a minute'}, then try again.`;
}

function createSignup(deps: InteractionRoutesDependencies): Handler {
  return async (request, reply, interaction) => {
    const form = formOf(request);
    const input = {
      email: form.get('email') ?? '',
      name: form.get('name') ?? '',
      password: form.get('password') ?? '',
    };
    const addresses = addressesOf(interaction);
    const { clientName } = await viewOfClient(deps.provider, interaction);
    const refuse = (problem: string, status: number) =>
      sendPage(
        reply,
        signupPage({ ...input, action: addresses.signup, loginLink: addresses.page, clientName, problem }),
        status,
      );
    const fault = signupFault(input);
    if (fault !== undefined) return refuse(fault, 422);
    try {
      await deps.addressLimit.enforce(addressKey(request.ip), reply);
      const signedIn = await deps.customers.signup(input);
      return await proceed(deps, request, reply, interaction, { ...signedIn, action: 'account.created' });
    } catch (error) {
      return refuse(explainRefusal(error, reply), (error as AppError).status);
    }
  };
}

function createConsent(deps: InteractionRoutesDependencies): Handler {
  return async (request, reply, interaction) => {
    const session = await currentSession(deps, request);
    if (session === undefined || session.id !== interaction.session?.uid) return restart(reply, interaction);
    const decision = formOf(request).get('decision');
    if (decision !== 'allow' && decision !== 'deny')
      return showConsent(deps, request, reply, interaction, 'Choose whether to allow the access.');
    const { customerId } = session.session;
    const result =
      decision === 'allow'
        ? { consent: { grantId: await grantConsent(deps.provider, interaction, customerId) } }
        : { error: 'access_denied', error_description: 'the customer denied the access' };
    void deps.audit.record([
      {
        customerId,
        actor: { type: 'customer', id: customerId },
        action: 'oauth.consent',
        target: shownClient(String(interaction.params.client_id)),
        outcome: decision === 'allow' ? 'success' : 'refused',
        ip: request.ip,
        requestId: request.id,
      },
    ]);
    const returnTo = await deps.provider.interactionResult(request.raw, reply.raw, result);
    // The path alone: the browser may know this machine by another of its names, and its cookies go with that.
    return reply.redirect(new URL(returnTo).pathname, 303);
  };
}

function createSwitch(deps: InteractionRoutesDependencies): Handler {
  return async (request, reply, interaction) => {
    const { access, customers } = deps;
    const cookie = access.cookieOf(request);
    if (cookie !== undefined) await customers.logout(cookie);
    await interaction.destroy();
    reply.header('set-cookie', expireCookie(access.cookieName, { secure: access.secureCookies }));
    return restart(reply, interaction);
  };
}
