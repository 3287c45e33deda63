import { type Static, Type } from 'typebox';
import type { ToolContext } from '../connector.ts';
import {
  boundSeconds,
  createVendorApi,
  refusedBy,
  retryAfterSeconds,
  slowDown,
} from '../vendor-api/request.ts';
import { countOrNull, fieldsOf, shapeOf } from '../vendor-api/shape.ts';

/*
 * One HTTP call per method, so the shared guarded client does. @discordjs/rest would bring an HTTP client of its own,
 * which the guard of outgoing connections does not see, and queues that wait for limits longer than a call may take.
 */

export const TITLE = 'Discord';
export const DISCORD_URL = 'https://discord.com/api/v10';
export const shape = shapeOf(TITLE);

export const discordCredentialSchema = Type.Object(
  {
    bot_token: Type.String({
      pattern: '^[!-~]{1,512}$',
      description: 'Token of the bot, from the page of the application at discord.com/developers.',
    }),
  },
  {
    additionalProperties: false,
    title: 'DiscordCredential',
    examples: [{ bot_token: 'MTk4NjIy.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs' }],
  },
);

export type DiscordCredential = Static<typeof discordCredentialSchema>;
export type DiscordContext = ToolContext<DiscordCredential>;

/** Discord asks bots to say who they are in this form. */
const USER_AGENT = 'DiscordBot (https://discord.com/developers, 1)';

export const callDiscord = createVendorApi<DiscordCredential>({
  title: TITLE,
  baseUrl: ({ baseUrl }) => baseUrl ?? DISCORD_URL,
  headers: ({ credential }) => ({ authorization: `Bot ${credential.bot_token}`, 'user-agent': USER_AGENT }),
  secrets: ({ bot_token }) => [bot_token],
  explain({ status, headers, body }, said, now) {
    const { code, message, retry_after } = fieldsOf(body);
    if (status === 429)
      // The body has fractions of a second and knows limits that the header rounds.
      return slowDown(
        TITLE,
        typeof retry_after === 'number' ? boundSeconds(retry_after) : retryAfterSeconds(headers, now),
      );
    if (status === 401 || status >= 500 || (status >= 300 && status < 400)) return undefined;
    // 0 is Discord's code for errors without one; then the status says more.
    return refusedBy(TITLE, said(message), String(countOrNull(code) || status));
  },
});
