import type { ToolContext } from '../connector.ts';
import { bearer, type OAuthCredential, secretsOf } from '../vendor-api/oauth-credential.ts';
import { withParticulars } from '../vendor-api/reasons.ts';
import {
  boundSeconds,
  createVendorApi,
  refusedBy,
  retryAfterSeconds,
  secondsUntil,
  slowDown,
} from '../vendor-api/request.ts';
import { fieldsOf, idOrNull, listOf, shapeOf, textOrNull } from '../vendor-api/shape.ts';

export const TITLE = 'X';
export const X_URL = 'https://api.x.com';
export const shape = shapeOf(TITLE);

export type XContext = ToolContext<OAuthCredential>;

export const callX = createVendorApi<OAuthCredential>({
  title: TITLE,
  baseUrl: ({ baseUrl }) => baseUrl ?? X_URL,
  headers: bearer,
  secrets: secretsOf,
  // What one asked for and may not see is a problem within an answer of status 200.
  isRefusal({ body }) {
    const { data, meta, errors } = fieldsOf(body);
    return data === undefined && meta === undefined && listOf(errors).length > 0;
  },
  explain({ status, headers, body }, said, now) {
    const problem = fieldsOf(body);
    const first = fieldsOf(listOf(problem.errors)[0]);
    // Problem JSON (RFC 9457), a list of problems, or the older list of messages with numbers.
    const type = textOrNull(problem.type) ?? textOrNull(first.type) ?? '';
    if (status === 429 && !USED_UP.test(type)) return slowDown(TITLE, secondsToWait(headers, now));
    if (status === 401 || status >= 500 || (status >= 300 && status < 400)) return undefined;
    const code = /\/problems\/([\w-]{1,60})$/.exec(type)?.[1] ?? idOrNull(first.code) ?? String(status);
    const faults = listOf(problem.errors).map((fault) => fieldsOf(fault).message ?? fieldsOf(fault).detail);
    const text = withParticulars(problem.detail, faults) ?? problem.title;
    return refusedBy(TITLE, said(text), said(code));
  },
});

/** What the operator's plan allows in a month: no wait that a call could name is long enough. */
const USED_UP = /\/problems\/usage-capped$/;

/** Of the app and of the person. They end later than the short window, which X names in the same answer. */
const DAYS = ['x-app-limit-24hour', 'x-user-limit-24hour'];

/** Until the last of the windows in which nothing is left begins anew. */
function secondsToWait(headers: Headers, now: Date): number {
  const usedUp = DAYS.filter((day) => headers.get(`${day}-remaining`) === '0');
  const waits = usedUp.flatMap((day) => {
    const reset = headers.get(`${day}-reset`);
    return reset === null ? [] : [boundSeconds(secondsUntil(reset, now))];
  });
  return waits.length === 0 ? retryAfterSeconds(headers, now) : Math.max(...waits);
}
