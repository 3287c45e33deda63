import { type App, refuseBadText } from '@libs/http';
import type { FastifyRequest } from 'fastify';
import { errors } from '../../errors.ts';
import type { Page } from './page-layout.ts';

type Scope = Pick<App, 'removeAllContentTypeParsers' | 'addContentTypeParser'>;

const FORM_BYTES_MAX = 16 * 1024;
const NO_FORM = 'Send the form as application/x-www-form-urlencoded.';

/** Takes HTML forms, and nothing else. */
export function acceptForms(scope: Scope): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    (_request, body, done) => {
      const form = new URLSearchParams(body as string);
      try {
        refuseBadText(form);
      } catch (error) {
        done(error as Error);
        return;
      }
      done(null, form);
    },
  );
  scope.addContentTypeParser('*', (_request, _payload, done) =>
    done(errors.unsupported_media_type({ detail: NO_FORM })),
  );
}

export function formOf(request: FastifyRequest): URLSearchParams {
  return request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
}

/**
 * The pages send no referrer, and browsers then write `Origin: null` on their own forms; `Sec-Fetch-Site` still tells
 * where they come from. What really protects the forms is their address, which no other site can know, and the two
 * cookies that browsers leave out of foreign posts.
 */
export function requireOwnForm(request: FastifyRequest, origins: ReadonlySet<string>): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const ownSite = site === undefined || site === 'same-origin' || site === 'none';
  const ownOrigin = origin === undefined || origins.has(origin) || (origin === 'null' && site !== undefined);
  if (!ownSite || !ownOrigin) throw errors.csrf({ detail: 'The form must be sent from its own page.' });
}

interface Reply {
  code(status: number): Reply;
  header(name: string, value: string): Reply;
  send(payload: string): Reply;
}

export function sendPage<R extends Reply>(reply: R, page: Page, status = 200): R {
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', page.csp)
    .send(page.html) as R;
}
