import type { FastifyReply } from 'fastify';

/** Nothing may load, frame or embed what an API answers. */
const API_CSP = "default-src 'none'; frame-ancestors 'none'";

export type BaseHeaders = readonly (readonly [string, string])[];

const HSTS_SECONDS = 63_072_000;

export function baseHeaders(publicUrl: string): BaseHeaders {
  const headers: [string, string][] = [
    ['x-content-type-options', 'nosniff'],
    ['x-frame-options', 'DENY'],
    ['referrer-policy', 'no-referrer'],
    ['content-security-policy', API_CSP],
    ['cache-control', 'no-store'],
  ];
  if (publicUrl.startsWith('https:')) {
    headers.push(['strict-transport-security', `max-age=${HSTS_SECONDS}; includeSubDomains`]);
  }
  return headers;
}

export function setBaseHeaders(reply: FastifyReply, headers: BaseHeaders): void {
  for (const [name, value] of headers) reply.header(name, value);
}
