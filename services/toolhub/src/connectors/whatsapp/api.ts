import { type Static, Type } from 'typebox';
import { readJsonAnswer } from '../answer.ts';
import { ConnectorError, type ToolContext } from '../connector.ts';

// The Graph API gives every object an id and answers for it at `/{id}`. An id becomes part of an address, so no
// character of it may change the path; the token becomes a header, so it has no spaces and no line ends.
const graphId = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description });

export const whatsappCredentialSchema = Type.Object(
  {
    access_token: Type.String({
      pattern: '^[!-~]{1,4096}$',
      description: 'Access token with whatsapp_business_messaging and whatsapp_business_management.',
    }),
    phone_number_id: graphId('Id of the phone number, from the API setup of the app; not the number itself.'),
    business_account_id: graphId('Id of the WhatsApp Business account that has the number.'),
  },
  { additionalProperties: false },
);

export type WhatsappCredential = Static<typeof whatsappCredentialSchema>;
export type WhatsappContext = ToolContext<WhatsappCredential>;

export const WHATSAPP_URL = 'https://graph.facebook.com/v24.0';

const MESSAGE_LENGTH_MAX = 300;
const RETRY_AFTER_SECONDS = 60;
/** No valid token; 102 and 104 are its older relatives. */
const TOKEN_CODES = [102, 104, 190];
/** Too many calls of the app, the user, the account, the number, and to one recipient. */
const RATE_CODES = [4, 17, 32, 613, 80007, 130429, 131048, 131056];
/** "Unknown error" and "service unavailable": both pass by themselves. */
const PASSING_CODES = [1, 2, 131000, 131016];

/** Reads an object of the Graph API. The token travels in a header, so that no log of addresses has it. */
export async function readObject(
  context: WhatsappContext,
  id: string,
  fields: readonly string[],
): Promise<Record<string, unknown>> {
  const url = `${context.baseUrl ?? WHATSAPP_URL}/${encodeURIComponent(id)}?fields=${fields.join(',')}`;
  const { access_token: token } = context.credential;
  const response = await context.fetch(url, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  });
  if (response.status >= 500)
    throw new ConnectorError('platform_unavailable', `WhatsApp answered ${response.status}`);
  const answer = await readJsonAnswer(response, 'WhatsApp');
  if (response.ok && answer.error === undefined) return answer;
  throw asConnectorError(answer.error, {
    status: response.status,
    token,
    retryAfter: response.headers.get('retry-after'),
  });
}

interface GraphError {
  message?: unknown;
  code?: unknown;
  error_data?: { details?: unknown };
}

function asConnectorError(
  reported: unknown,
  { status, token, retryAfter }: { status: number; token: string; retryAfter: string | null },
): ConnectorError {
  const error = (typeof reported === 'object' && reported !== null ? reported : {}) as GraphError;
  const code = typeof error.code === 'number' ? error.code : null;
  // Graph repeats a malformed token in its message, which is why that message is never passed on.
  if (status === 401 || (code !== null && TOKEN_CODES.includes(code)))
    return new ConnectorError('token_expired', 'WhatsApp does not accept the access token');
  if (status === 429 || (code !== null && RATE_CODES.includes(code))) {
    const seconds = Number(retryAfter);
    const retryAfterSeconds = Number.isInteger(seconds) && seconds > 0 ? seconds : RETRY_AFTER_SECONDS;
    return new ConnectorError('rate_limited', 'WhatsApp asks to slow down', { retryAfterSeconds });
  }
  if (code !== null && PASSING_CODES.includes(code))
    return new ConnectorError('platform_unavailable', `WhatsApp cannot answer now (code ${code})`);
  const said = error.error_data?.details ?? error.message;
  const text = (typeof said === 'string' ? said : 'no reason given').replaceAll(token, '…');
  return new ConnectorError('platform_error', `WhatsApp refused: ${text.slice(0, MESSAGE_LENGTH_MAX)}`, {
    platformCode: String(code ?? status),
  });
}
