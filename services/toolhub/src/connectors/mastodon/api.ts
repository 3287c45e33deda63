import { type Static, Type } from 'typebox';
import { ConnectorError, type ToolContext } from '../connector.ts';
import { pastedToken, serverAddress } from '../vendor-api/credential-fields.ts';
import { createVendorApi, refusedBy } from '../vendor-api/request.ts';
import { fieldsOf, shapeOf } from '../vendor-api/shape.ts';

export const TITLE = 'Mastodon';
export const shape = shapeOf(TITLE);

export const mastodonCredentialSchema = Type.Object(
  {
    instance_url: serverAddress(
      'https://mastodon.social',
      'Address of the server that has the account, for example https://mastodon.social',
    ),
    access_token: pastedToken(
      2_048,
      'Access token with read and write, from Preferences → Development → your application.',
    ),
  },
  {
    additionalProperties: false,
    title: 'MastodonCredential',
    examples: [
      {
        instance_url: 'https://mastodon.social',
        access_token: 'ZA-Yj3aBD8U8Cm7lKUp-lm9O9BmDgdhHzDeqsY8tlL0',
      },
    ],
  },
);

export type MastodonCredential = Static<typeof mastodonCredentialSchema>;
export type MastodonContext = ToolContext<MastodonCredential>;

/** Where the operator sends requests elsewhere (a test, a proxy), the instance's own address is not used. */
function instanceOf({ baseUrl, credential }: Pick<MastodonContext, 'baseUrl' | 'credential'>): string {
  return baseUrl ?? new URL(credential.instance_url).origin;
}

export const callMastodon = createVendorApi<MastodonCredential>({
  title: TITLE,
  baseUrl: instanceOf,
  headers: ({ credential }) => ({ authorization: `Bearer ${credential.access_token}` }),
  secrets: ({ access_token }) => [access_token],
  explain({ status, body }, said) {
    const { error, error_description: detail } = fieldsOf(body);
    // A token without the scope, and a person who was blocked, are both 403; only the first can be mended by a new token.
    if (status === 403 && typeof error === 'string' && /scope/i.test(error))
      return new ConnectorError('platform_error', `${TITLE} refused: the access token lacks a scope`, {
        platformCode: 'insufficient_scope',
      });
    if (status >= 400 && status < 500 && status !== 401 && status !== 429)
      return refusedBy(TITLE, said(typeof detail === 'string' ? detail : error), String(status));
    return undefined;
  },
});

const LINK = /<([^<>]{0,4096})>([^<>]{0,200})/g;

/** The place at which the next page begins, from the `Link` header (RFC 8288); null on the last page. */
export function nextMaxId(headers: Headers): string | null {
  // An address may have commas of its own, so the list is not cut at them.
  for (const [, address = '', parameters = ''] of (headers.get('link') ?? '').matchAll(LINK))
    if (/;\s*rel="?next\b/i.test(parameters) && URL.canParse(address, 'https://server.invalid'))
      return new URL(address, 'https://server.invalid').searchParams.get('max_id');
  return null;
}
