import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainPage } from '../pages/plain-page.ts';

/** Browsers name HTML when a person follows an address; programs do not, and get a problem document. */
export function isPersonAtNoAddress({ is404, method, headers }: FastifyRequest): boolean {
  return is404 && method === 'GET' && /\btext\/html\b/i.test(headers.accept ?? '');
}

export function sendNothingHere(reply: FastifyReply): void {
  const nonce = randomBytes(16).toString('base64');
  const main = `<h1>There is no page here</h1><p>The address may have a typing mistake, or the page has moved.</p>
<p><a href="/">Go to the front page</a></p>`;
  reply
    .code(404)
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    .type('text/html; charset=utf-8')
    .send(plainPage({ title: 'There is no page here', main }, nonce));
}
