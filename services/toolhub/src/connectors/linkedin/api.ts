import type { ToolContext } from '../connector.ts';
import { bearer, type OAuthCredential, secretsOf } from '../vendor-api/oauth-credential.ts';
import { withParticulars } from '../vendor-api/reasons.ts';
import {
  boundSeconds,
  createVendorApi,
  refusedBy,
  retryAfterSeconds,
  slowDown,
} from '../vendor-api/request.ts';
import { type Fields, fieldsOf, idOrNull, listOf, shapeOf, textOrNull } from '../vendor-api/shape.ts';

export const TITLE = 'LinkedIn';
export const LINKEDIN_URL = 'https://api.linkedin.com';
export const shape = shapeOf(TITLE);

export type LinkedinContext = ToolContext<OAuthCredential>;

/** LinkedIn serves a version for a year after it came out; each call names the one it was written for. */
const LINKEDIN_VERSION = '202606';

export const callLinkedin = createVendorApi<OAuthCredential>({
  title: TITLE,
  baseUrl: ({ baseUrl }) => baseUrl ?? LINKEDIN_URL,
  headers: (context) => ({
    ...bearer(context),
    'linkedin-version': LINKEDIN_VERSION,
    'x-restli-protocol-version': '2.0.0',
  }),
  secrets: secretsOf,
  explain({ status, headers, body }, said, now) {
    if (status === 429) return slowDown(TITLE, secondsToWait({ headers, body }, now));
    if (status === 401 || status >= 500 || (status >= 300 && status < 400)) return undefined;
    const { message, serviceErrorCode, code, errorDetails } = fieldsOf(body);
    const faults = listOf(fieldsOf(errorDetails).inputErrors).map(fieldsOf);
    const own = idOrNull(serviceErrorCode) ?? textOrNull(code) ?? textOrNull(faults[0]?.code);
    const text = withParticulars(message, faults.map(descriptionOf));
    return refusedBy(TITLE, said(text), said(own === null || own === '0' ? String(status) : own));
  },
});

/** What is wrong with one field, which stands before it. */
function descriptionOf({ description, input }: Fields): string | null {
  const field = textOrNull(fieldsOf(fieldsOf(input).inputPath).fieldPath);
  const text = textOrNull(description);
  return text !== null && field !== null ? `${field}: ${text}` : text;
}

const DAY_MS = 24 * 60 * 60_000;

/** LinkedIn names no time, but says which limit it is: those of a day begin anew at midnight UTC. */
function secondsToWait({ headers, body }: { headers: Headers; body: unknown }, now: Date): number {
  const isOfDay = /\bDAY limit\b/.test(textOrNull(fieldsOf(body).message) ?? '');
  if (headers.has('retry-after') || !isOfDay) return retryAfterSeconds(headers, now);
  return boundSeconds((DAY_MS - (now.getTime() % DAY_MS)) / 1_000);
}

/** Whom the token belongs to. Posts and comments name their author, so this is read before each. */
export async function readPerson(
  context: LinkedinContext,
): Promise<{ id: string; name: string | null; body: unknown }> {
  const { body } = await callLinkedin(context, { path: '/v2/userinfo' });
  const { sub, name } = shape.object(body);
  return { id: shape.text(sub), name: textOrNull(name), body };
}
