import type { ToolContext } from '../connector.ts';
import { bearer, type OAuthCredential, secretsOf } from '../vendor-api/oauth-credential.ts';
import { createVendorApi, refusedBy } from '../vendor-api/request.ts';
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
  explain({ status, body }, said) {
    if (status === 401 || status === 429 || status >= 500 || (status >= 300 && status < 400))
      return undefined;
    const problem = fieldsOf(body);
    const first = fieldsOf(listOf(problem.errors)[0]);
    // Problem JSON (RFC 9457), a list of problems, or the older list of messages with numbers.
    const type = textOrNull(problem.type) ?? textOrNull(first.type) ?? '';
    const code = /\/problems\/([\w-]{1,60})$/.exec(type)?.[1] ?? idOrNull(first.code) ?? String(status);
    const text = [problem.detail, first.detail, first.message, problem.title].find(
      (value) => typeof value === 'string',
    );
    return refusedBy(TITLE, said(text), said(code));
  },
});
