// The audit log over HTTP: who did what, from where, with which outcome, and never a secret.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  authorizeUrl,
  decide,
  newPkce,
  obtainTokens,
  refresh,
  registerClient,
} from '../../../services/toolhub/test/authorization.ts';
import { type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

let instance: LoneInstance;

beforeAll(async () => {
  instance = await startAlone();
});

afterAll(() => instance.stop());

interface Entry {
  id: string;
  at: string;
  actor: { type: string; id: string; name?: string };
  action: string;
  target: string | null;
  outcome: string;
  ip: string;
  request_id: string;
}

test('[TH-12.1] sessions, tokens and consents are recorded, newest first', async () => {
  const { url } = instance;
  const account = await signUp(url);
  const { id, token } = await makeToken(url, account, { scopes: ['account:read', 'account:write'] });
  await call(`${url}/api/auth/login`, { body: { email: account.email, password: 'wrong password' } });
  await call(`${url}/api/auth/login`, { body: { email: account.email, password: PASSWORD } });
  const client = await registerClient(url);
  await decide(account, authorizeUrl(url, client, newPkce()), 'deny');
  const tokens = await obtainTokens(url, account, client);
  await refresh(url, client, tokens.refresh_token ?? '');
  await refresh(url, client, tokens.refresh_token ?? '');
  const revoked = await call(`${url}/api/tokens/${id}`, { method: 'DELETE', token });
  expect(revoked.status).toBe(204);

  const read = async () => {
    const { body } = await call<{ data: Entry[]; next_cursor: null }>(`${url}/api/audit?limit=100`, {
      cookie: account.cookie,
    });
    return body.data;
  };
  await expect.poll(async () => (await read()).length).toBe(10);
  const entries = await read();
  const { client_id: clientId } = client;
  const customer = `customer ${account.id}`;
  expect(
    entries.map(({ actor, action, target, outcome }) => [
      `${actor.type} ${actor.id}`,
      action,
      target,
      outcome,
    ]),
  ).toEqual(
    [
      [customer, 'account.created', null, 'success'],
      [customer, 'token.created', id, 'success'],
      [customer, 'session.started', null, 'refused'],
      [customer, 'session.started', null, 'success'],
      [customer, 'oauth.consent', clientId, 'refused'],
      [customer, 'oauth.consent', clientId, 'success'],
      [`oauth ${clientId}`, 'oauth.token.issued', clientId, 'success'],
      [`oauth ${clientId}`, 'oauth.token.refreshed', clientId, 'success'],
      [`oauth ${clientId}`, 'oauth.revoked', clientId, 'success'],
      [`token ${id}`, 'token.revoked', id, 'success'],
    ].reverse(),
  );
  for (const entry of entries) {
    expect(entry.id).toMatch(/^aud_[0-9a-z]{26}$/);
    expect(entry.ip).toBe('127.0.0.1');
    expect(entry.request_id).toMatch(/^req_/);
    expect(Date.parse(entry.at)).toBeGreaterThan(Date.now() - 60_000);
  }
  expect(entries[0]?.request_id).toBe(revoked.headers.get('x-request-id'));
  const dump = JSON.stringify(entries);
  for (const secret of [token, tokens.access_token, tokens.refresh_token ?? '', PASSWORD, 'wrong password'])
    expect(dump).not.toContain(secret);

  const first = await call<{ data: Entry[]; next_cursor: string }>(`${url}/api/audit?limit=4`, {
    cookie: account.cookie,
  });
  const second = await call<{ data: Entry[]; next_cursor: string }>(
    `${url}/api/audit?limit=4&cursor=${first.body.next_cursor}`,
    { cookie: account.cookie },
  );
  expect([...first.body.data, ...second.body.data]).toEqual(entries.slice(0, 8));
});

test('[TH-12.1] the log is filtered by what, whom, how and when, and comes as CSV', async () => {
  const { url } = instance;
  const account = await signUp(url);
  const { id } = await makeToken(url, account);
  await call(`${url}/api/auth/login`, { body: { email: account.email, password: 'wrong password' } });
  const { cookie } = account;
  const actions = async (query: string) => {
    const { status, body } = await call<{ data: Entry[] }>(`${url}/api/audit?${query}`, { cookie });
    return status === 200 ? body.data.map(({ action }) => action) : status;
  };
  expect(await actions('action=token.created')).toEqual(['token.created']);
  expect(await actions(`target=${id}`)).toEqual(['token.created']);
  expect(await actions('outcome=refused')).not.toContain('token.created');
  expect(await actions('outcome=perhaps')).toBe(400);
  const { body: all } = await call<{ data: Entry[] }>(`${url}/api/audit`, { cookie });
  const [first, last] = [all.data.at(-1), all.data[0]].map((entry) => entry?.at.slice(0, 10));
  expect(await actions(`from=${first}&action=token.created`)).toEqual(['token.created']);
  expect(await actions(`to=${first}`)).toEqual([]);
  const nextDay = new Date(Date.parse(last ?? '') + 86_400_000).toISOString().slice(0, 10);
  expect(await actions(`from=${nextDay}`)).toEqual([]);
  expect(await actions('from=2026-99-99')).toBe(400);
  expect(await actions('from=0001-01-01&action=token.created')).toEqual(['token.created']);
  const { body: refused } = await call<{ errors: { parameter: string }[] }>(
    `${url}/api/audit?from=2026-02-30&to=2026-02-31&limit=500`,
    { cookie },
  );
  expect(refused.errors.map(({ parameter }) => parameter).sort()).toEqual(['from', 'limit', 'to']);

  const csv = await fetch(`${url}/api/audit/export?action=token.created`, { headers: { cookie } });
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const [header, line, end] = (await csv.text()).split('\r\n');
  expect(header).toBe('id,at,actor_type,actor_id,action,target,outcome,ip,request_id');
  expect(line).toContain(`,token.created,${id},success,`);
  expect(end).toBe('');
});

test('[TH-12.1] what an assistant did is shown under its name, also when it is gone', async () => {
  const { url } = instance;
  const account = await signUp(url);
  const client = await registerClient(url, { client_name: 'Desktop assistant' });
  const { access_token: token } = await obtainTokens(url, account, client);
  await call(`${url}/mcp`, {
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'accounts_list', arguments: {} },
    },
  });
  const { cookie } = account;
  const clients = await call<{ data: { id: string }[] }>(`${url}/api/clients`, { cookie });
  await call(`${url}/api/clients/${clients.body.data[0]?.id}`, { method: 'DELETE', cookie });
  await instance.database.database.query('delete from oauth_clients where id = $1', [client.client_id]);
  const { body } = await call<{ data: Entry[] }>(`${url}/api/audit?limit=100`, { cookie });
  const named = body.data.filter(({ actor }) => actor.type === 'oauth');
  expect(named.map(({ action, actor }) => [action, actor.name])).toEqual([
    ['tool.call', 'Desktop assistant'],
    ['oauth.token.issued', 'Desktop assistant'],
  ]);
  for (const { actor } of body.data.filter(({ actor }) => actor.type !== 'oauth'))
    expect(Object.keys(actor)).toEqual(['type', 'id']);
});
