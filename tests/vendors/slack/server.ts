// Slack's Web API written from https://docs.slack.dev/reference/methods: the methods that the connector calls, with the
// documented answers, cursors and errors.
import { bearerOf, createTokenEndpoint, type TokenEndpoint } from '../token-endpoint.ts';
import {
  type Received,
  type Reply,
  type Route,
  startVendorServer,
  type VendorServer,
} from '../vendor-server.ts';

interface Message {
  ts: string;
  channel: string;
  user: string;
  text: string;
  thread_ts?: string;
  blocks?: unknown;
}

export interface SlackServer extends VendorServer {
  tokens: Map<string, { user: string; kind: 'user' | 'bot' }>;
  messages: Message[];
  reactions: Set<string>;
  endpoint: TokenEndpoint;
  addUser(id: string, name: string, email: string): void;
  addMessage(channel: string, user: string, text: string, threadTs?: string): string;
}

export const CHANNELS = ['C0GENERAL1', 'C0RANDOM01', 'G0SECRET01'];

const refused = (error: string, more = {}): Reply => ({ json: { ok: false, error, ...more } });

export async function startSlack(port = 0): Promise<SlackServer> {
  const tokens: SlackServer['tokens'] = new Map();
  const users: { id: string; name: string; email: string }[] = [];
  const messages: Message[] = [];
  const reactions = new Set<string>();
  const endpoint = createTokenEndpoint(refused('invalid_refresh_token'));
  let clock = 1_762_000_000;

  const nextTs = () => {
    clock += 1;
    return `${clock}.000100`;
  };
  const method =
    (run: (fields: Record<string, string>, caller: { user: string; kind: string }) => Reply): Route =>
    (request) => {
      const caller = tokens.get(bearerOf(request) ?? '');
      if (caller === undefined) return refused('invalid_auth');
      return run(fieldsOf(request), caller);
    };
  const fieldsOf = ({ method: verb, query, body }: Received) =>
    (verb === 'GET' ? Object.fromEntries(query) : body) as Record<string, string>;

  /** The cursor is the place of the next item, as text that callers do not look into. */
  function page(fields: Record<string, string>, name: string, all: readonly unknown[]): Reply {
    const start = fields.cursor ? Number(Buffer.from(fields.cursor, 'base64').toString()) : 0;
    if (Number.isNaN(start)) return refused('invalid_cursor');
    const end = start + Number(fields.limit ?? 100);
    const next = end < all.length ? Buffer.from(String(end)).toString('base64') : '';
    return { json: { ok: true, [name]: all.slice(start, end), response_metadata: { next_cursor: next } } };
  }
  const userOf = ({ id, name, email }: (typeof users)[number]) => ({
    ...{ id, name, real_name: `${name} Example`, is_bot: false, deleted: false },
    profile: { display_name: name, email },
  });
  const messageOf = ({ ts, user, text, thread_ts }: Message) => ({
    ...{ type: 'message', ts, user, text, ...(thread_ts === undefined ? {} : { thread_ts }) },
    ...{ reply_count: messages.filter((other) => other.thread_ts === ts && other.ts !== ts).length },
  });
  const isKnown = (channel: string | undefined) => CHANNELS.includes(channel ?? '');

  const server = await startVendorServer(
    'Slack',
    {
      'POST /oauth.v2.access': endpoint.route,
      'GET /auth.test': method((_fields, { user }) => ({
        json: {
          ...{ ok: true, url: 'https://team.slack.com/', team: 'Team', user, team_id: 'T1' },
          user_id: users.find(({ name }) => name === user)?.id ?? 'U1',
        },
      })),
      'GET /conversations.list': method((fields) =>
        page(
          fields,
          'channels',
          CHANNELS.map((id) => ({
            ...{
              id,
              name: id.toLowerCase(),
              is_private: id.startsWith('G'),
              is_member: true,
              num_members: 3,
            },
            ...{ topic: { value: 'About <all>' }, purpose: { value: '' } },
          })),
        ),
      ),
      'GET /conversations.history': method((fields) => {
        if (!isKnown(fields.channel)) return refused('channel_not_found');
        const found = messages.filter(
          ({ channel, ts, thread_ts }) =>
            channel === fields.channel &&
            thread_ts === undefined &&
            Number(ts) > Number(fields.oldest ?? 0) &&
            Number(ts) < Number(fields.latest ?? Number.POSITIVE_INFINITY),
        );
        // With a beginning and no end those closest to the beginning come first, and pages go forward from there.
        const isForward = fields.oldest !== undefined && fields.latest === undefined;
        if (!isForward) return page(fields, 'messages', found.toReversed().map(messageOf));
        const { json, ...reply } = page(fields, 'messages', found.map(messageOf));
        const answer = json as { messages: unknown[] };
        return { ...reply, json: { ...answer, messages: answer.messages.toReversed() } };
      }),
      'GET /conversations.replies': method((fields) => {
        const found = messages.filter(({ ts, thread_ts }) => ts === fields.ts || thread_ts === fields.ts);
        return found.length === 0
          ? refused('thread_not_found')
          : page(fields, 'messages', found.map(messageOf));
      }),
      'GET /search.messages': method((fields, { kind }) => {
        if (kind === 'bot') return refused('not_allowed_token_type');
        const found = messages.filter(({ text }) => text.includes(fields.query ?? '')).toReversed();
        const [count, at] = [Number(fields.count ?? 20), Number(fields.page ?? 1)];
        const matches = found.slice((at - 1) * count, at * count).map((message) => ({
          ...{ type: 'message', ts: message.ts, user: message.user, username: 'bob', text: message.text },
          ...{
            channel: { id: message.channel, name: 'general' },
            permalink: `https://team.slack.com/${message.ts}`,
          },
        }));
        const paging = { count, total: found.length, page: at, pages: Math.ceil(found.length / count) };
        return {
          json: { ok: true, query: fields.query, messages: { matches, paging, total: found.length } },
        };
      }),
      'GET /users.list': method((fields) => page(fields, 'members', users.map(userOf))),
      'GET /users.lookupByEmail': method((fields) => {
        const user = users.find(({ email }) => email === fields.email);
        return user ? { json: { ok: true, user: userOf(user) } } : refused('users_not_found');
      }),
      'POST /chat.postMessage': method((fields, { user }) => {
        if (!isKnown(fields.channel)) return refused('channel_not_found');
        if (!fields.text?.trim()) return refused('no_text');
        const ts = nextTs();
        messages.push({ ts, user, ...(fields as unknown as Omit<Message, 'ts' | 'user'>) });
        return { json: { ok: true, channel: fields.channel, ts, message: { text: fields.text, ts } } };
      }),
      'POST /reactions.add': method((fields) => {
        if (!messages.some(({ ts }) => ts === fields.timestamp)) return refused('message_not_found');
        const key = `${fields.timestamp} ${fields.name}`;
        if (reactions.has(key)) return refused('already_reacted');
        reactions.add(key);
        return { json: { ok: true } };
      }),
      'POST /chat.delete': method((fields, { user }) => {
        const at = messages.findIndex(({ ts }) => ts === fields.ts);
        if (at < 0) return refused('message_not_found');
        if (messages[at]?.user !== user) return refused('cant_delete_message');
        messages.splice(at, 1);
        return { json: { ok: true, channel: fields.channel, ts: fields.ts } };
      }),
    },
    port,
  );
  return {
    ...server,
    ...{ tokens, messages, reactions, endpoint },
    addUser: (id, name, email) => void users.push({ id, name, email }),
    addMessage(channel, user, text, threadTs) {
      const ts = nextTs();
      messages.push({ ts, channel, user, text, ...(threadTs === undefined ? {} : { thread_ts: threadTs }) });
      return ts;
    },
  };
}
