import { type App, acceptedOrigins, expireCookie, noteAudit } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { type Interaction, errors as oauthErrors } from 'oidc-provider';
import type { Suspensions } from '../../admin/suspensions.ts';
import type { Access } from '../../customers/access.ts';
import type { Session } from '../../customers/identity.ts';
import type { CookieSession, CustomerService } from '../../customers/service.ts';
import type { RoutesOn } from '../../route-rules.ts';
import type { Arrivals } from '../provider/arrivals.ts';
import { shownClient } from '../provider/own-client.ts';
import { loginAddress, oauthPaths } from '../provider/provider.ts';
import type { OAuthService } from '../service.ts';
import { grantConsent, restartUrl, viewOfClient, viewOfConsent } from './consent.ts';
import { acceptForms, formOf, requireOwnForm, sendPage } from './form.ts';
import {
  createLoginForms,
  type LoginFormDependencies,
  type LoginPlace,
  sendSuspended,
  showLogin,
  showSignup,
} from './login-form.ts';
import { asHook } from './login-routes.ts';
import { consentPage, problemPage } from './pages.ts';

export interface InteractionRoutesDependencies extends LoginFormDependencies {
  provider: Provider;
  arrivals: Arrivals;
  publicUrl: string;
  routesOn: RoutesOn;
  customers: CustomerService;
  oauth: Pick<OAuthService, 'confirmConsent'>;
  access: Access;
  suspensions: Pick<Suspensions, 'isSuspended' | 'refusal'>;
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
  const forms = createLoginForms(deps);
  const shared = { access: 'public', rate: 'pages', audit: 'none', schema: { hide: true } } as const;
  app.register(async (scope) => {
    acceptForms(scope as unknown as App);
    const routes = deps.routesOn(scope as unknown as App);
    routes.get(page, { ...shared, idempotency: 'repeats' }, withInteraction(createShow(deps)));
    const form = {
      ...shared,
      idempotency: 'repeats',
      preParsing: asHook((request) => requireOwnForm(request, origins)),
    } as const;
    const login: Handler = async (request, reply, interaction) =>
      forms.logIn(request, reply, await placeOf(deps, request, interaction));
    const signup: Handler = async (request, reply, interaction) =>
      forms.signUp(request, reply, await placeOf(deps, request, interaction));
    const consent = createConsent(deps);
    // A form without an address of its own is sent to its page.
    const byPrompt: Handler = (request, reply, interaction) => {
      const isConsent = interaction.prompt.name === 'consent';
      noteAudit(request, { action: isConsent ? 'oauth.consent' : 'session.started' });
      return (isConsent ? consent : login)(request, reply, interaction);
    };
    routes.post(page, { ...form, audit: { action: 'oauth.consent' } }, withInteraction(byPrompt));
    routes.post(`${page}/login`, { ...form, audit: { action: 'session.started' } }, withInteraction(login));
    routes.post(`${page}/signup`, { ...form, audit: { action: 'account.created' } }, withInteraction(signup));
    routes.post(`${page}/consent`, { ...form, audit: { action: 'oauth.consent' } }, withInteraction(consent));
    routes.post(`${page}/switch`, form, withInteraction(createSwitch(deps)));
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

/** The reason to log in that an existing session does not answer. */
const FRESH_LOGIN = 'login_prompt';

function createShow(deps: InteractionRoutesDependencies): Handler {
  return async (request, reply, interaction) => {
    const session = await currentSession(deps, request);
    const { prompt } = interaction;
    if (prompt.name === 'consent') return showConsent(deps, request, reply, interaction);
    if (session !== undefined && !prompt.reasons.includes(FRESH_LOGIN)) return restart(reply, interaction);
    const place = await placeOf(deps, request, interaction);
    return sendPage(reply, 'signup' in (request.query as object) ? showSignup(place) : showLogin(place));
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
  if (deps.suspensions.isSuspended(customer.id)) return sendSuspended(reply, deps.suspensions);
  const addresses = addressesOf(interaction);
  const view = await viewOfConsent({ ...deps, ip: request.ip }, interaction);
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
  return reply.redirect(restartUrl(interaction.params), 303);
}

async function placeOf(
  deps: InteractionRoutesDependencies,
  { ip }: FastifyRequest,
  interaction: Interaction,
): Promise<LoginPlace> {
  const { clientName } = await viewOfClient({ ...deps, ip }, interaction.params);
  const { page, login, signup } = addressesOf(interaction);
  return {
    ...{
      clientName,
      loginAction: login,
      signupAction: signup,
      loginLink: page,
      signupLink: `${page}?signup`,
      comeBackTo: loginAddress(interaction.params),
    },
    async proceed(reply) {
      await interaction.destroy();
      return restart(reply, interaction);
    },
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
    if (deps.suspensions.isSuspended(customerId)) return sendSuspended(reply, deps.suspensions);
    const result =
      decision === 'allow'
        ? { consent: { grantId: await allow(deps, interaction, session.session) } }
        : { error: 'access_denied', error_description: 'the customer denied the access' };
    noteAudit(request, {
      subject: customerId,
      target: shownClient(String(interaction.params.client_id)),
      outcome: decision === 'allow' ? 'success' : 'refused',
    });
    const returnTo = await deps.provider.interactionResult(request.raw, reply.raw, result);
    // The path alone: the browser may know this machine by another of its names, and its cookies go with that.
    return reply.redirect(new URL(returnTo).pathname, 303);
  };
}

/** What comes of a consent outlives the session, so one that was given while the session ended counts for nothing. */
async function allow(
  { provider, oauth, access }: InteractionRoutesDependencies,
  interaction: Interaction,
  session: Session,
): Promise<string> {
  const grantId = await grantConsent(provider, interaction, session.customerId);
  await oauth.confirmConsent(grantId, access.standingOf(session));
  return grantId;
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
