import { type Static, Type } from 'typebox';
import { ConnectorError, type ToolContext } from '../connector.ts';
import { pastedToken } from '../vendor-api/credential-fields.ts';
import { type OAuthCredential, secretsOf } from '../vendor-api/oauth-credential.ts';
import { listsIn, withParticulars } from '../vendor-api/reasons.ts';
import {
  boundSeconds,
  createVendorApi,
  refusedBy,
  retryAfterSeconds,
  slowDown,
} from '../vendor-api/request.ts';
import { countOrNull, fieldsOf, shapeOf, textOrNull } from '../vendor-api/shape.ts';

/*
 * One HTTP call per method, so the shared guarded client does. @discordjs/rest would bring an HTTP client of its own,
 * which the guard of outgoing connections does not see, and queues that wait for limits longer than a call may take.
 */

export const TITLE = 'Discord';
export const DISCORD_URL = 'https://discord.com/api/v10';
export const shape = shapeOf(TITLE);

export const discordCredentialSchema = Type.Object(
  {
    bot_token: pastedToken(
      512,
      'Token of the bot, from the page of the application at discord.com/developers.',
    ),
  },
  {
    additionalProperties: false,
    title: 'DiscordCredential',
    examples: [{ bot_token: 'MTk4NjIy.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs' }],
  },
);

/** A bot acts; a person who logged in only lets us see who they are and where they are members. */
type BotCredential = Static<typeof discordCredentialSchema>;
export type DiscordCredential = BotCredential | OAuthCredential;
export type DiscordContext = ToolContext<DiscordCredential>;

/** Discord asks bots to say who they are in this form. */
const USER_AGENT = 'DiscordBot (https://discord.com/developers, 1)';

export function isBot(credential: DiscordCredential): credential is BotCredential {
  return 'bot_token' in credential;
}

export const callDiscord = createVendorApi<DiscordCredential>({
  title: TITLE,
  baseUrl: ({ baseUrl }) => baseUrl ?? DISCORD_URL,
  headers: ({ credential }) => ({
    authorization: isBot(credential) ? `Bot ${credential.bot_token}` : `Bearer ${credential.access_token}`,
    'user-agent': USER_AGENT,
  }),
  secrets: (credential) => (isBot(credential) ? [credential.bot_token] : secretsOf(credential)),
  explain({ status, headers, body }, said, now) {
    const { code, message, errors, retry_after } = fieldsOf(body);
    if (status === 429)
      // The body has fractions of a second and knows limits that the header rounds.
      return slowDown(
        TITLE,
        typeof retry_after === 'number' ? boundSeconds(retry_after) : retryAfterSeconds(headers, now),
      );
    if (status === 401 || status >= 500 || (status >= 300 && status < 400)) return undefined;
    // 0 is Discord's code for errors without one; then the status says more.
    return refusedBy(
      TITLE,
      said(withParticulars(message, faultsIn(errors))),
      String(countOrNull(code) || status),
    );
  },
});

/** Discord names each field that it does not take, as deep as the field lies: `{content: {_errors: [{message}]}}`. */
function faultsIn(errors: unknown): string[] {
  return listsIn(errors, '_errors').flatMap(({ path, list }) => {
    const text = textOrNull(fieldsOf(list[0]).message);
    return text === null ? [] : [path === '' ? text : `${path}: ${text}`];
  });
}

/** Channels and messages are shown to bots alone: a person's login is told so before Discord is asked. */
export const callAsBot: typeof callDiscord = async (context, request) => {
  if (isBot(context.credential)) return callDiscord(context, request);
  throw new ConnectorError(
    'platform_error',
    `${TITLE} lets only bots see channels and messages: connect the token of a bot`,
    { platformCode: 'bot_required' },
  );
};
