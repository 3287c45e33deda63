import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isWellEncoded } from '../input/validation.ts';
import { plainPage } from '../pages/plain-page.ts';

/** Browsers name HTML when a person follows an address; programs do not, and get a problem document. */
export function isPersonAtNoAddress(request: FastifyRequest, error: unknown): boolean {
  const { method, headers, raw } = request;
  if (method !== 'GET' || !/\btext\/html\b/i.test(headers.accept ?? '')) return false;
  const url = raw.url ?? '';
  if (!isWellEncoded(url)) return true;
  const { code } = error as { code?: unknown };
  // An address with a NUL, or with a part that is too long, is one of no page though a route has its form.
  return (
    code === 'FST_ERR_MAX_PARAM_LENGTH' || (code === 'not_found' && (request.is404 || url.includes('%00')))
  );
}

export function sendNothingHere({ raw }: FastifyRequest, reply: FastifyReply): void {
  const nonce = randomBytes(16).toString('base64');
  const main = `<h1>There is no page here</h1><p>The address may have a typing mistake, or the page has moved.</p>
<p><a href="/">Go to the front page</a></p>`;
  reply
    .code(isWellEncoded(raw.url ?? '') ? 404 : 400)
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    .type('text/html; charset=utf-8')
    .send(plainPage({ title: 'There is no page here', main }, nonce));
}
