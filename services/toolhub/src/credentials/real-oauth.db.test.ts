// Expiry on a real mail server: Dovecot asks a token service whether the token is good, and the connector renews it.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connector, ConnectorError } from '../connectors/connector.ts';
import { createEmailConnector } from '../connectors/email/connector.ts';
import {
  missingForRealMail,
  type RealMailServer,
  startRealMail,
} from '../connectors/email/test/real-mail-server.ts';
import { runTool } from '../connectors/test/tool-runner.ts';
import { migrationSource } from '../schema.ts';
import { createRig, sessionOf } from './test/rig.ts';

const USER = 'alice@mail.test';
const missing = missingForRealMail();
if (missing === null) describe('OAuth on Dovecot', runAll);
else console.warn(`LEFT OUT: expiring OAuth tokens on Dovecot (${missing})`);

/** Gives tokens, takes each refresh token once, and tells Dovecot which access tokens are good. */
interface TokenService {
  url: string;
  good: Set<string>;
  refreshTokens: Set<string>;
  exchanges: URLSearchParams[];
  server: Server;
}

async function startTokenService(): Promise<TokenService> {
  const good = new Set<string>();
  const refreshTokens = new Set<string>();
  const exchanges: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/introspect') {
      const active = good.has(url.searchParams.get('token') ?? '');
      response.end(JSON.stringify({ active, username: USER }));
      return;
    }
    const form = new URLSearchParams(await textOf(request));
    exchanges.push(form);
    if (!refreshTokens.delete(form.get('refresh_token') ?? '')) {
      response.writeHead(400).end('{"error":"invalid_grant"}');
      return;
    }
    const number = exchanges.length;
    good.add(`access-${number}`);
    refreshTokens.add(`refresh-${number}`);
    response.end(
      JSON.stringify({
        access_token: `access-${number}`,
        refresh_token: `refresh-${number}`,
        expires_in: 3_600,
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, good, refreshTokens, exchanges, server };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function runAll(): void {
  let db: TestDatabase;
  let mail: RealMailServer;
  let tokens: TokenService;
  let connector: Connector;

  beforeAll(async () => {
    [db, tokens] = await Promise.all([createTestDatabase(migrationSource), startTokenService()]);
    mail = await startRealMail({
      users: {},
      tokenInfoUrl: `${tokens.url}/introspect?token=`,
      delivery: false,
    });
    connector = createEmailConnector({ pool: { limits: { perAccount: 3 } } });
  });
  afterAll(async () => {
    await connector.close?.();
    await mail.stop();
    tokens.server.closeAllConnections();
    await new Promise((resolve) => tokens.server.close(resolve));
    await db.drop();
  });

  const makeRig = () =>
    createRig({
      database: db.database,
      connectors: [connector],
      now: () => new Date(),
      allow: [`127.0.0.1:${mail.imapPort}`, `127.0.0.1:${mail.submissionPort}`, new URL(tokens.url).host],
    });

  function connect(
    customerId: string,
    { expiresInMs, token = 'access-0' }: { expiresInMs: number; token?: string },
  ) {
    const server = (port: number) => ({
      host: '127.0.0.1',
      port,
      secure: false,
      user: USER,
      access_token: token,
    });
    const credential = {
      imap: server(mail.imapPort),
      smtp: server(mail.submissionPort),
      from: USER,
      refresh_token: `first-${customerId}`,
      expires_at: new Date(Date.now() + expiresInMs).toISOString(),
      oauth: { token_url: `${tokens.url}/token`, client_id: 'toolhub', client_secret: 'hush' },
    };
    tokens.refreshTokens.add(credential.refresh_token);
    return makeRig().credentials.put({
      customerId,
      platform: 'email',
      credential,
      verify: false,
      standing: async () => {},
    });
  }

  /** A tool call as the ladder makes it: open, run, and once more after a refusal. */
  async function listFolders(customerId: string, rig: ReturnType<typeof makeRig>): Promise<string> {
    let opened = await rig.credentials.open({ session: sessionOf(customerId), platform: 'email' });
    for (let attempt = 0; ; attempt += 1) {
      if (opened.kind !== 'ok') return opened.kind;
      try {
        await runTool(connector, 'email_list_folders', {
          args: {},
          context: rig.connectors.context(opened.opened),
        });
        return 'ok';
      } catch (error) {
        if (!(error instanceof ConnectorError) || error.code !== 'token_expired' || attempt > 0) throw error;
        opened = await rig.credentials.openAfterRefusal(opened.opened);
      }
    }
  }

  it('renews an expired token once for ten parallel calls in two processes', async () => {
    await connect('cus_a', { expiresInMs: -1_000 });
    const rigs = [makeRig(), makeRig()];
    const calls = Array.from({ length: 10 }, (_, index) =>
      listFolders('cus_a', rigs[index % 2] as (typeof rigs)[0]),
    );
    expect(await Promise.all(calls)).toEqual(Array(10).fill('ok'));
    expect(tokens.exchanges).toHaveLength(1);
    expect(Object.fromEntries(tokens.exchanges[0] ?? [])).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'first-cus_a',
      client_id: 'toolhub',
      client_secret: 'hush',
    });
  });

  it('renews a token that the server refuses before its time, once for all who meet the refusal', async () => {
    const before = tokens.exchanges.length;
    await connect('cus_b', { expiresInMs: 3_600_000, token: 'revoked' });
    const rig = makeRig();
    const calls = Array.from({ length: 10 }, () => listFolders('cus_b', rig));
    expect(await Promise.all(calls)).toEqual(Array(10).fill('ok'));
    expect(tokens.exchanges.length - before).toBe(1);
    const opened = await rig.credentials.open({ session: sessionOf('cus_b'), platform: 'email' });
    if (opened.kind !== 'ok') throw new Error('not open');
    expect(await connector.verify(rig.connectors.context(opened.opened))).toEqual({
      kind: 'accepted',
      account: USER,
    });
  });

  it('says token_expired when the refresh token is refused, too, and tells the customer once', async () => {
    await connect('cus_c', { expiresInMs: -1_000 });
    tokens.refreshTokens.delete('first-cus_c');
    const rig = makeRig();
    const calls = Array.from({ length: 5 }, () => listFolders('cus_c', rig));
    expect(await Promise.all(calls)).toEqual(Array(5).fill('token_expired'));
    const { rows } = await db.database.query('select type, data from events where customer_id = $1', [
      'cus_c',
    ]);
    const data = { platform: 'email', account: USER, reason: 'invalid_grant' };
    expect(rows).toEqual([{ type: 'credential.expired', data }]);
  });
}
