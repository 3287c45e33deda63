// Discord's HTTP API written from https://discord.com/developers/docs: the methods that the connector calls, with the
// documented objects, pages, nonces and errors.
import { bearerOf, createTokenEndpoint, type TokenEndpoint } from '../token-endpoint.ts';
import {
  type Received,
  type Reply,
  type Route,
  startVendorServer,
  type VendorServer,
} from '../vendor-server.ts';

interface Message {
  id: string;
  channel: string;
  author: string;
  content: string;
  nonce?: string;
  replyTo?: string;
}

export interface DiscordServer extends VendorServer {
  /** Of bots. */
  tokens: Map<string, string>;
  /** Of people who logged in: they see who they are and where they are members, and no message. */
  people: Map<string, string>;
  endpoint: TokenEndpoint;
  messages: Message[];
  reactions: Set<string>;
  addMessage(channel: string, author: string, content: string): string;
}

export const SERVERS = ['290926798626357999', '290926798626358000', '290926798626358001'];
export const CHANNELS = ['41771983423143937', '41771983423143938', '41771983423143939'];

const refused = (status: number, code: number, message: string, errors?: unknown): Reply => ({
  status,
  json: { message, code, errors },
});

export async function startDiscord(port = 0): Promise<DiscordServer> {
  const tokens = new Map<string, string>();
  const people = new Map<string, string>();
  // Discord's answer to a refresh token that is over or was used (RFC 6749 5.2).
  const endpoint = createTokenEndpoint({ status: 400, json: { error: 'invalid_grant' } });
  const messages: Message[] = [];
  const reactions = new Set<string>();
  let nextId = 1_290_000_000_000_000_000n;

  const newId = () => {
    nextId += 1n;
    return String(nextId);
  };
  const signedIn =
    (route: (request: Received, bot: string, parameters: readonly string[]) => Reply): Route =>
    (request, parameters) => {
      const bot = tokens.get(bearerOf(request, 'Bot') ?? '');
      return bot === undefined ? refused(401, 0, '401: Unauthorized') : route(request, bot, parameters);
    };
  const signedInAsAnybody =
    (route: (request: Received, who: { name: string; isBot: boolean }) => Reply): Route =>
    (request) => {
      const bot = tokens.get(bearerOf(request, 'Bot') ?? '');
      const person = people.get(bearerOf(request) ?? '');
      const name = bot ?? person;
      return name === undefined
        ? refused(401, 0, '401: Unauthorized')
        : route(request, { name, isBot: bot !== undefined });
    };
  const inChannel = (route: (request: Received, bot: string, parameters: readonly string[]) => Reply) =>
    signedIn((request, bot, parameters) =>
      CHANNELS.includes(parameters[0] ?? '')
        ? route(request, bot, parameters)
        : refused(404, 10_003, 'Unknown Channel'),
    );
  const messageOf = ({ id, channel, author, content, replyTo }: Message) => ({
    ...{
      id,
      channel_id: channel,
      content,
      timestamp: '2026-11-01T10:00:00.000000+00:00',
      edited_timestamp: null,
    },
    ...{ author: { id: '80351110224678912', username: author, global_name: null, bot: author === 'helper' } },
    ...{ attachments: [], embeds: [], mentions: [], pinned: false, type: replyTo === undefined ? 0 : 19 },
    ...(replyTo === undefined ? {} : { message_reference: { message_id: replyTo, channel_id: channel } }),
  });
  const known = (id: string | undefined) => messages.find((message) => message.id === id);
  const unknownMessage = refused(404, 10_008, 'Unknown Message');
  const thread = (request: Received, parent: string | undefined): Reply => ({
    status: 201,
    json: { id: newId(), name: (request.body as { name: string }).name, parent_id: parent, type: 11 },
  });

  const server = await startVendorServer(
    'Discord',
    {
      'POST /oauth2/token': endpoint.route,
      'GET /users/@me': signedInAsAnybody((_request, { name, isBot }) => ({
        json: {
          ...{ id: isBot ? '80351110224678912' : '80351110224670000', username: name, discriminator: '0' },
          ...(isBot ? { bot: true } : { global_name: name.toUpperCase() }),
        },
      })),
      'GET /users/@me/guilds': signedInAsAnybody((request) => {
        const after = BigInt(request.query.get('after') ?? 0);
        const found = SERVERS.filter((id) => BigInt(id) > after).slice(
          0,
          Number(request.query.get('limit') ?? 200),
        );
        return { json: found.map((id) => ({ id, name: `Server ${id}`, owner: false, permissions: '0' })) };
      }),
      'GET /guilds/*/channels': signedIn((_request, _bot, [id]) =>
        SERVERS.includes(id ?? '')
          ? {
              json: CHANNELS.map((channel, position) => ({
                id: channel,
                name: `c${position}`,
                type: 0,
                position,
                topic: null,
                parent_id: null,
              })),
            }
          : refused(404, 10_004, 'Unknown Guild'),
      ),
      'GET /channels/*/messages': inChannel((request, _bot, [channel]) => {
        const limit = Number(request.query.get('limit') ?? 50);
        const [before, after] = [request.query.get('before'), request.query.get('after')];
        const all = messages.filter((message) => message.channel === channel);
        const older = all.filter(({ id }) => before === null || BigInt(id) < BigInt(before));
        const found =
          after === null
            ? older.slice(-limit)
            : all.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, limit);
        return { json: found.toReversed().map(messageOf) };
      }),
      'POST /channels/*/messages': inChannel((request, bot, [channel = '']) => {
        const body = request.body as {
          content?: string;
          nonce?: string;
          enforce_nonce?: boolean;
          message_reference?: { message_id: string };
        };
        if (!body.content?.trim()) return refused(400, 50_006, 'Cannot send an empty message');
        const { nonce } = body;
        const same =
          body.enforce_nonce === true && nonce !== undefined && messages.find((one) => one.nonce === nonce);
        if (same) return { json: messageOf(same) };
        const replyTo = body.message_reference?.message_id;
        if (replyTo !== undefined && !known(replyTo))
          return refused(400, 50_035, 'Invalid Form Body', {
            message_reference: {
              _errors: [{ code: 'MESSAGE_REFERENCE_UNKNOWN_MESSAGE', message: 'Unknown message' }],
            },
          });
        const message = {
          ...{ id: newId(), channel, author: bot, content: body.content },
          ...(nonce === undefined ? {} : { nonce }),
          ...(replyTo === undefined ? {} : { replyTo }),
        };
        messages.push(message);
        return { json: messageOf(message) };
      }),
      'POST /channels/*/threads': inChannel((request, _bot, [channel]) => thread(request, channel)),
      'POST /channels/*/messages/*/threads': inChannel((request, _bot, [channel, id]) =>
        known(id) ? thread(request, channel) : unknownMessage,
      ),
      'PUT /channels/*/messages/*/reactions/*/@me': inChannel((_request, _bot, [, id, emoji]) => {
        if (!known(id)) return unknownMessage;
        reactions.add(`${id} ${emoji}`);
        return { status: 204 };
      }),
      'DELETE /channels/*/messages/*': inChannel((_request, bot, [, id]) => {
        const message = known(id);
        if (!message) return unknownMessage;
        if (message.author !== bot) return refused(403, 50_013, 'Missing Permissions');
        messages.splice(messages.indexOf(message), 1);
        return { status: 204 };
      }),
    },
    port,
  );
  return {
    ...server,
    ...{ tokens, people, endpoint, messages, reactions },
    addMessage(channel, author, content) {
      const id = newId();
      messages.push({ id, channel, author, content });
      return id;
    },
  };
}
