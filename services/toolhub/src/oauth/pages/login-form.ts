import type { RateLimit } from '@libs/http';
import { addressKey, noteAudit } from '@libs/http';
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from '@libs/login';
import { AppError } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Check } from 'typebox/value';
import type { Suspensions } from '../../admin/suspensions.ts';
import type { Access } from '../../customers/access.ts';
import { sessionCookie } from '../../customers/cookies.ts';
import { NAME_CHARACTERS_MAX } from '../../customers/customer.ts';
import { Name, NewEmail, NewPassword, originOf } from '../../customers/schemas.ts';
import type { CustomerService, SignedIn } from '../../customers/service.ts';
import { formOf, sendPage } from './form.ts';
import type { Page } from './page-layout.ts';
import { loginPage, problemPage, signupPage } from './pages.ts';

export interface LoginFormDependencies {
  customers: Pick<CustomerService, 'login' | 'signup'>;
  access: Pick<Access, 'cookieName' | 'secureCookies'>;
  suspensions: Pick<Suspensions, 'refusal'>;
  addressLimit: RateLimit;
}

/** Where a login stands: the page it is on, and what comes after it. */
export interface LoginPlace {
  clientName: string;
  /** Addresses that the two forms are sent to, and those of the two pages. */
  loginAction: string;
  signupAction: string;
  loginLink: string;
  signupLink: string;
  /** Where the log-in of the dashboard leads back to: a page of ours, since the request itself would show who the client is to us. */
  comeBackTo: string;
  /** Leads on, now that somebody is logged in. */
  proceed(reply: FastifyReply): Promise<FastifyReply>;
}

/** Says whom to ask; only who has proved to be the customer sees it. */
export function sendSuspended(reply: FastifyReply, suspensions: Pick<Suspensions, 'refusal'>): FastifyReply {
  const { title, detail, status } = suspensions.refusal();
  return sendPage(reply, problemPage({ title, detail }), status);
}

/** Logging in and signing up by plain forms, wherever they stand. */
export function createLoginForms(deps: LoginFormDependencies) {
  async function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    place: LoginPlace,
    { customer, sessionToken }: SignedIn,
  ): Promise<FastifyReply> {
    noteAudit(request, { subject: customer.id });
    reply.header('set-cookie', sessionCookie(deps.access, sessionToken));
    return place.proceed(reply);
  }

  async function logIn(
    request: FastifyRequest,
    reply: FastifyReply,
    place: LoginPlace,
  ): Promise<FastifyReply> {
    const form = formOf(request);
    const email = form.get('email') ?? '';
    const refuse = (problem: string, status: number) =>
      sendPage(reply, showLogin(place, { email, problem }), status);
    try {
      await deps.addressLimit.enforce(addressKey(request.ip), reply);
      const password = form.get('password') ?? '';
      const outcome = await deps.customers.login({ email, password, from: originOf(request) });
      if (outcome.ok) return await enter(request, reply, place, outcome);
      noteAudit(request, { subject: outcome.customerId });
      if (outcome.why === 'suspended') {
        noteAudit(request, { outcome: 'refused' });
        return sendSuspended(reply, deps.suspensions);
      }
      return refuse('The e-mail address or the password is wrong.', 401);
    } catch (error) {
      return refuse(explainRefusal(error, reply), (error as AppError).status);
    }
  }

  async function signUp(
    request: FastifyRequest,
    reply: FastifyReply,
    place: LoginPlace,
  ): Promise<FastifyReply> {
    const form = formOf(request);
    const input = {
      email: form.get('email') ?? '',
      name: form.get('name') ?? '',
      password: form.get('password') ?? '',
    };
    const refuse = (problem: string, status: number) =>
      sendPage(reply, showSignup(place, { ...input, problem }), status);
    const fault = signupFault(input);
    if (fault !== undefined) return refuse(fault, 422);
    try {
      await deps.addressLimit.enforce(addressKey(request.ip), reply);
      const signedIn = await deps.customers.signup({ ...input, from: originOf(request) });
      return await enter(request, reply, place, signedIn);
    } catch (error) {
      return refuse(explainRefusal(error, reply), (error as AppError).status);
    }
  }

  return { logIn, signUp };
}

export function showLogin(place: LoginPlace, filled: { email?: string; problem?: string } = {}): Page {
  const { clientName, loginAction: action, signupLink, comeBackTo } = place;
  const otherWaysLink = `/login?next=${encodeURIComponent(comeBackTo)}`;
  return loginPage({ action, signupLink, otherWaysLink, clientName, ...filled });
}

export function showSignup(
  place: LoginPlace,
  filled: { email?: string; name?: string; problem?: string } = {},
): Page {
  const { clientName, signupAction: action, loginLink } = place;
  return signupPage({ action, loginLink, clientName, ...filled });
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

/** As the interface checks it. The browser does, too; this is for what arrives without one. */
function signupFault(input: { email: string; name: string; password: string }): string | undefined {
  if (!Check(NewEmail, input.email)) return 'This is not an e-mail address.';
  if (!Check(Name, input.name)) return `Enter your name, in at most ${NAME_CHARACTERS_MAX} characters.`;
  if (!Check(NewPassword, input.password))
    return `The password must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters.`;
  return undefined;
}
