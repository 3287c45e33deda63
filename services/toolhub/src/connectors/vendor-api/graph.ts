import type { ConnectorError, ToolContext } from '../connector.ts';
import {
  boundSeconds,
  type CallVendor,
  createVendorApi,
  notNow,
  refusedBy,
  retryAfterSeconds,
  slowDown,
  tokenRefused,
  type VendorRefusal,
} from './request.ts';
import { countOrNull, fieldsOf, isFields, textOrNull } from './shape.ts';

// What WhatsApp, Facebook and Instagram share: Meta's Graph API with its errors.

/** No valid token; 102 and 104 are its older relatives. */
const TOKEN_CODES = [102, 104, 190];
/** Too many calls of the app, the user, the page, the account, its templates, the number, and to one recipient. */
const RATE_CODES = [4, 17, 32, 341, 613, 80001, 80002, 80006, 80007, 80008, 130429, 131048, 131056];
/** "Unknown error", "something went wrong": Graph does not know itself how far it came. They pass by themselves. */
const HALFWAY_CODES = [1, 131000];
/** "Service unavailable" passes, too. */
const PASSING_CODES = [...HALFWAY_CODES, 2, 131016];
/**
 * What Instagram means passes by itself, under codes that also stand for what does not: it failed, fetching the file took too
 * long, it could not publish just now, the file is not ready.
 */
const PASSING_SUBCODES = [2207001, 2207003, 2207008, 2207027];
/** "Instagram server error": like any such, it may have come after the work was done. */
const HALFWAY_SUBCODES = [2207001];
/** Instagram takes what is to be published for spam, under the code of too many calls: waiting does not help. */
const SPAM_SUBCODE = 2207051;
/** "Capability or permissions issue", which Graph answers with status 500 though it does not pass. */
const NOT_PERMITTED_CODE = 3;
const RETRY_AFTER_SECONDS = 60;
const SECONDS_PER_MINUTE = 60;

export interface GraphRules<Credential> {
  title: string;
  url: string;
  token(credential: Credential): string;
}

/** The token travels in a header, so that no log of addresses has it. */
export function createGraphApi<Credential>({
  title,
  url,
  token,
}: GraphRules<Credential>): CallVendor<Credential> {
  return createVendorApi<Credential>({
    title,
    baseUrl: ({ baseUrl }: ToolContext<Credential>) => baseUrl ?? url,
    headers: ({ credential }) => ({ authorization: `Bearer ${token(credential)}` }),
    secrets: (credential) => [token(credential)],
    isRefusal: ({ body }) => isFields(body) && body.error !== undefined,
    explain: (answer, said, now) => explain(title, answer, said, now),
  });
}

function explain(
  title: string,
  { status, headers, body, isRead }: VendorRefusal,
  said: (text: unknown) => string,
  now: Date,
): ConnectorError | undefined {
  const error = fieldsOf(fieldsOf(body).error);
  const code = countOrNull(error.code);
  const subcode = countOrNull(error.error_subcode);
  const isIn = (codes: readonly number[], subcodes: readonly number[]) =>
    (code !== null && codes.includes(code)) || (subcode !== null && subcodes.includes(subcode));
  const isHalfway = isIn(HALFWAY_CODES, HALFWAY_SUBCODES);
  if (status >= 500 && code !== NOT_PERMITTED_CODE && !isHalfway) return undefined;
  // Graph repeats a malformed token in its message, which is why that message is never passed on.
  if (status === 401 || (code !== null && TOKEN_CODES.includes(code))) return tokenRefused(title);
  const isTooFast = code !== null && RATE_CODES.includes(code) && subcode !== SPAM_SUBCODE;
  if (status === 429 || isTooFast) return slowDown(title, secondsToWait(headers, now));
  if (isIn(PASSING_CODES, PASSING_SUBCODES) || (code !== null && error.is_transient === true)) {
    const message = `${title} cannot answer now (code ${code ?? subcode})`;
    return notNow(message, { isRead, isHalfway, platformCode: String(code ?? subcode) });
  }
  if (status >= 300 && status < 400) return undefined;
  const text = [fieldsOf(error.error_data).details, error.error_user_msg, error.message].find(
    (value) => typeof value === 'string' && value !== '',
  );
  return refusedBy(title, said(text), String(code ?? status));
}

/** Graph names the minutes in a header of its own, per business and kind of limit; the longest counts. */
function secondsToWait(headers: Headers, now: Date): number {
  if (headers.has('retry-after')) return retryAfterSeconds(headers, now);
  const minutes = minutesIn(headers.get('x-business-use-case-usage'));
  return minutes > 0 ? boundSeconds(minutes * SECONDS_PER_MINUTE) : RETRY_AFTER_SECONDS;
}

function minutesIn(usage: string | null): number {
  if (usage === null) return 0;
  try {
    const limits = Object.values(fieldsOf(JSON.parse(usage))).flatMap((list) =>
      Array.isArray(list) ? list : [],
    );
    return Math.max(
      0,
      ...limits.map((limit) => countOrNull(fieldsOf(limit).estimated_time_to_regain_access) ?? 0),
    );
  } catch {
    // A header that is no JSON names no time; the usual one is used.
    return 0;
  }
}

/** Where the next page begins; Graph gives a cursor on the last page, too, but no `next`. */
export function nextGraphCursor(body: unknown): string | null {
  const paging = fieldsOf(fieldsOf(body).paging);
  return paging.next === undefined ? null : textOrNull(fieldsOf(paging.cursors).after);
}
