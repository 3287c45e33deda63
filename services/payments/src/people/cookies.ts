import { expireCookie, parseCookies, serializeCookie } from '@libs/http';
import { SESSION_DAYS } from '@libs/login';
import type { FastifyRequest } from 'fastify';
import type { Gates } from '../keys/access.ts';

const SESSION_SECONDS = SESSION_DAYS * 24 * 60 * 60;
const QUESTION_SECONDS = 5 * 60;

/** The cookies of people: the session, and for minutes the browser that a device's answer must come from. */
export interface SessionCookies {
  ofSession(token: string): string;
  readonly withoutSession: string;
  ofQuestion(browserToken: string): string;
  readonly withoutQuestion: string;
  questionOf(request: Pick<FastifyRequest, 'headers'>): string | undefined;
}

export function createSessionCookies({ name, secure }: Gates['cookie']): SessionCookies {
  const question = name.replace('session', 'passkey');
  const strict = { secure, sameSite: 'Strict' } as const;
  return {
    ofSession: (token) => serializeCookie(name, token, { secure, maxAgeSeconds: SESSION_SECONDS }),
    withoutSession: expireCookie(name, { secure }),
    ofQuestion: (token) => serializeCookie(question, token, { ...strict, maxAgeSeconds: QUESTION_SECONDS }),
    withoutQuestion: expireCookie(question, strict),
    questionOf: ({ headers }) => parseCookies(headers.cookie).get(question),
  };
}
