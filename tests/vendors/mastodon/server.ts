// A Mastodon server written from https://docs.joinmastodon.org/methods/: the methods that the connector calls, with the
// documented entities, page links and errors.
import { hash } from 'node:crypto';
import {
  type Received,
  type Reply,
  type Route,
  startVendorServer,
  type VendorServer,
} from '../vendor-server.ts';

interface Status {
  id: string;
  account: string;
  content: string;
  visibility: string;
  in_reply_to_id: string | null;
  spoiler_text: string;
}

export interface MastodonServer extends VendorServer {
  tokens: Map<string, string>;
  addAccount(username: string, token: string): void;
  addStatus(username: string, content: string, more?: Partial<Status>): string;
  notify(type: string, from: string, statusId: string | null): void;
  statuses: Map<string, Status>;
  /** Who sees what an account writes where it does not say, by username; `public` for the others. */
  privacy: Map<string, string>;
  /** Clients that registered themselves, by their id; one that is deleted is not known any more. */
  apps: Map<string, App>;
}

interface App {
  secret: string;
  redirectUri: string;
  scopes: string;
}

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
const paragraph = (text: string) => `<p>${escapeHtml(text).replaceAll('\n', '<br />')}</p>`;
const PAGE_MAX = 40;

export async function startMastodon(port = 0): Promise<MastodonServer> {
  const tokens = new Map<string, string>();
  const statuses = new Map<string, Status>();
  const privacy = new Map<string, string>();
  const favourites = new Set<string>();
  const notifications: { id: string; type: string; from: string; statusId: string | null }[] = [];
  const keys = new Map<string, string>();
  let nextId = 110_000_000_000_000_000n;

  const newId = () => {
    nextId += 1n;
    return String(nextId);
  };
  const accountOf = (username: string) => ({
    ...{
      id: `9${username.length}${username.charCodeAt(0)}`,
      username,
      acct: username,
      display_name: username,
    },
    url: `https://social.test/@${username}`,
  });
  const statusOf = (status: Status) => ({
    ...{ id: status.id, created_at: '2026-11-01T10:00:00.000Z', in_reply_to_id: status.in_reply_to_id },
    ...{ spoiler_text: status.spoiler_text, visibility: status.visibility, language: 'en' },
    ...{
      uri: `https://social.test/s/${status.id}`,
      url: `https://social.test/@${status.account}/${status.id}`,
    },
    ...{ replies_count: 0, reblogs_count: 0, favourites_count: favourites.has(status.id) ? 1 : 0 },
    ...{
      favourited: favourites.has(status.id),
      content: status.content,
      reblog: null,
      media_attachments: [],
    },
    account: accountOf(status.account),
  });

  const signedIn =
    (route: (request: Received, username: string, parameters: readonly string[]) => Reply): Route =>
    (request, parameters) => {
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      const username = tokens.get(token);
      if (username === undefined) return { status: 401, json: { error: 'The access token is invalid' } };
      return route(request, username, parameters);
    };

  /** Newest first, continued by `max_id` in a Link header. */
  function page<Item extends { id: string }>(
    request: Received,
    all: readonly Item[],
    show: (item: Item) => unknown,
  ) {
    const limit = Math.min(Number(request.query.get('limit') ?? 20), PAGE_MAX);
    const maxId = request.query.get('max_id');
    const rest = all.toReversed().filter(({ id }) => maxId === null || BigInt(id) < BigInt(maxId));
    const items = rest.slice(0, limit);
    const last = items.at(-1);
    const headers: Record<string, string> =
      last === undefined
        ? {}
        : {
            link: `<https://social.test${request.path}?max_id=${last.id}>; rel="next", <https://social.test${request.path}?min_id=${items[0]?.id}>; rel="prev"`,
          };
    return { json: items.map(show), headers };
  }

  const apps = new Map<string, App>();
  const codes = new Map<string, { app: string; redirectUri: string; challenge: string }>();
  const invalidClient: Reply = { status: 401, json: { error: 'invalid_client' } };

  /** The person who is asked is Ada, and she allows it. */
  function authorize({ query }: Received): Reply {
    const app = apps.get(query.get('client_id') ?? '');
    const redirectUri = query.get('redirect_uri') ?? '';
    const asked = (query.get('scope') ?? '').split(' ');
    if (app === undefined || app.redirectUri !== redirectUri)
      return { status: 400, json: { error: 'invalid_client' } };
    if (!asked.every((scope) => app.scopes.split(' ').includes(scope)))
      return { status: 400, json: { error: 'invalid_scope' } };
    const code = `code-${codes.size + 1}`;
    codes.set(code, {
      ...{ app: query.get('client_id') ?? '', redirectUri },
      challenge: query.get('code_challenge') ?? '',
    });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    return { status: 302, headers: { location: back.href }, text: '' };
  }

  function token(request: Received): Reply {
    const form = request.body as Record<string, string>;
    const app = apps.get(form.client_id ?? '');
    if (app === undefined || app.secret !== form.client_secret) return invalidClient;
    const answer = { token_type: 'Bearer', scope: app.scopes, created_at: 1_763_200_000 };
    if (form.grant_type === 'client_credentials') {
      // `read` where nothing is asked for; never more than what was registered.
      const asked = (form.scope ?? 'read').split(' ');
      const isWithin = asked.every((scope) => app.scopes.split(' ').includes(scope));
      return isWithin
        ? { json: { ...answer, scope: asked.join(' '), access_token: 'app-token' } }
        : { status: 400, json: { error: 'invalid_scope' } };
    }
    const code = codes.get(form.code ?? '');
    codes.delete(form.code ?? '');
    const isGood =
      code?.app === form.client_id &&
      code?.redirectUri === form.redirect_uri &&
      code?.challenge === hash('sha256', form.code_verifier ?? '', 'base64url');
    if (!isGood) return { status: 400, json: { error: 'invalid_grant' } };
    const accessToken = `login-token-${tokens.size}`;
    tokens.set(accessToken, 'ada');
    return { json: { ...answer, access_token: accessToken } };
  }

  const find = (id: string | undefined) => statuses.get(id ?? '');
  const missing: Reply = { status: 404, json: { error: 'Record not found' } };

  const server = await startVendorServer(
    'Mastodon',
    {
      'POST /api/v1/apps': ({ body }) => {
        const { redirect_uris, scopes } = body as Record<string, string>;
        const id = `app-${apps.size + 1}`;
        apps.set(id, {
          secret: `secret-of-${id}`,
          redirectUri: redirect_uris ?? '',
          scopes: scopes ?? 'read',
        });
        return { json: { id: '1', name: 'Toolhub', client_id: id, client_secret: `secret-of-${id}` } };
      },
      'GET /oauth/authorize': authorize,
      'POST /oauth/token': token,
      'GET /api/v1/accounts/verify_credentials': signedIn((_request, username) => ({
        json: { ...accountOf(username), source: { privacy: privacy.get(username) ?? 'public' } },
      })),
      'GET /api/v1/timelines/home': signedIn((request) => page(request, [...statuses.values()], statusOf)),
      'GET /api/v1/timelines/public': signedIn((request) => page(request, [...statuses.values()], statusOf)),
      'GET /api/v1/timelines/tag/*': signedIn((request, _username, [tag]) =>
        page(
          request,
          [...statuses.values()].filter(({ content }) => content.includes(`#${tag}`)),
          statusOf,
        ),
      ),
      'GET /api/v2/search': signedIn((request) => {
        const wanted = (request.query.get('q') ?? '').toLowerCase();
        const offset = Number(request.query.get('offset') ?? 0);
        const limit = Number(request.query.get('limit') ?? 20);
        const cut = <Item>(all: Item[]) => all.slice(offset, offset + limit);
        const type = request.query.get('type');
        return {
          json: {
            accounts:
              type === 'accounts'
                ? cut([...tokens.values()].filter((name) => name.includes(wanted))).map(accountOf)
                : [],
            statuses:
              type === 'statuses'
                ? cut(
                    [...statuses.values()].filter(({ content }) => content.toLowerCase().includes(wanted)),
                  ).map(statusOf)
                : [],
            hashtags:
              type === 'hashtags' ? [{ name: wanted, url: `https://social.test/tags/${wanted}` }] : [],
          },
        };
      }),
      'GET /api/v1/statuses/*': signedIn((_request, _username, [id]) => {
        const status = find(id);
        return status ? { json: statusOf(status) } : missing;
      }),
      'GET /api/v1/statuses/*/context': signedIn((_request, _username, [id]) => {
        const status = find(id);
        if (!status) return missing;
        const parent = find(status.in_reply_to_id ?? undefined);
        const replies = [...statuses.values()].filter(({ in_reply_to_id }) => in_reply_to_id === id);
        return { json: { ancestors: parent ? [statusOf(parent)] : [], descendants: replies.map(statusOf) } };
      }),
      'GET /api/v1/notifications': signedIn((request) => {
        const types = request.query.getAll('types[]');
        const wanted = notifications.filter(({ type }) => types.length === 0 || types.includes(type));
        return page(request, wanted, ({ id, type, from, statusId }) => {
          const status = find(statusId ?? undefined);
          return {
            ...{ id, type, created_at: '2026-11-01T10:00:00.000Z', account: accountOf(from) },
            ...(status ? { status: statusOf(status) } : {}),
          };
        });
      }),
      'POST /api/v1/statuses': signedIn((request, username) => {
        const body = request.body as Record<string, string | undefined>;
        const key = request.headers['idempotency-key'];
        const known = typeof key === 'string' ? find(keys.get(`${username} ${key}`)) : undefined;
        if (known) return { json: statusOf(known) };
        if (!body.status?.trim())
          return { status: 422, json: { error: "Validation failed: Text can't be blank" } };
        if (body.status.length > 500)
          return { status: 422, json: { error: 'Validation failed: Text character limit of 500 exceeded' } };
        if (body.in_reply_to_id !== undefined && !find(body.in_reply_to_id)) return missing;
        const status: Status = {
          ...{ id: newId(), account: username, content: paragraph(body.status) },
          // Whatever it answers: that of the account where none is asked for.
          visibility: body.visibility ?? privacy.get(username) ?? 'public',
          in_reply_to_id: body.in_reply_to_id ?? null,
          spoiler_text: body.spoiler_text ?? '',
        };
        statuses.set(status.id, status);
        if (typeof key === 'string') keys.set(`${username} ${key}`, status.id);
        return { json: statusOf(status) };
      }),
      'POST /api/v1/statuses/*/favourite': signedIn((_request, _username, [id]) => {
        const status = find(id);
        if (!status) return missing;
        favourites.add(status.id);
        return { json: statusOf(status) };
      }),
      'DELETE /api/v1/statuses/*': signedIn((_request, username, [id]) => {
        const status = find(id);
        if (status?.account !== username) return missing;
        statuses.delete(status.id);
        return { json: { ...statusOf(status), text: status.content } };
      }),
    },
    port,
  );

  return {
    ...server,
    apps,
    statuses,
    privacy,
    tokens,
    addAccount: (username, token) => void tokens.set(token, username),
    addStatus(username, content, more = {}) {
      const id = newId();
      const base = {
        id,
        account: username,
        content,
        visibility: 'public',
        in_reply_to_id: null,
        spoiler_text: '',
      };
      statuses.set(id, { ...base, ...more });
      return id;
    },
    notify: (type, from, statusId) => void notifications.push({ id: newId(), type, from, statusId }),
  };
}
