import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { freePort } from '@libs/runtime/testing';
import fc from 'fast-check';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSelfSigned } from '../test/self-signed.ts';
import { createGuardedAgent } from './agent.ts';
import { createEgressPolicy } from './policy.ts';
import { resolveGuarded } from './resolve.ts';
import type { ResolvedAddress } from './system-resolver.ts';

// Real sockets on loopback: 127.0.0.2 stands for a public address (it is an allowed place), 127.0.0.1 for a private one.
const PUBLIC = '127.0.0.2';
const PRIVATE = '127.0.0.1';
const NAME = 'rebind.example';

const { cert, key } = makeSelfSigned([NAME]);
let port: number;
let publicServer: Server;
let privateServer: Server;
let publicHits = 0;
let privateConnections = 0;

const four = (address: string): ResolvedAddress => ({ address, family: 4 });

beforeAll(async () => {
  publicServer = createServer({ cert, key }, (_request, response) => {
    publicHits += 1;
    response.end('public');
  });
  port = await freePort();
  publicServer.listen(port, PUBLIC);
  await once(publicServer, 'listening');
  privateServer = createServer({ cert, key }, (_request, response) => response.end('private'));
  privateServer.on('connection', () => {
    privateConnections += 1;
  });
  privateServer.listen(port, PRIVATE);
  await once(privateServer, 'listening');
});

afterAll(async () => {
  for (const server of [publicServer, privateServer]) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

function makeAgent(resolve: () => Promise<ResolvedAddress[]>) {
  return createGuardedAgent(createEgressPolicy({ allow: [`${PUBLIC}:${port}`], resolve }), {
    tls: { ca: cert },
  });
}

async function reach(
  agent: ReturnType<typeof makeAgent>,
  url = `https://${NAME}:${port}/hook`,
): Promise<string> {
  try {
    const response = await request(url, { dispatcher: agent, method: 'POST', body: '{}', reset: true });
    return await response.body.text();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

describe('createGuardedAgent', () => {
  it('dials the checked address under the real name, which TLS verifies', async () => {
    const agent = makeAgent(async () => [four(PUBLIC)]);
    expect(await reach(agent)).toBe('public');
    await agent.close();
  });

  it('looks a name up once per connection, so that no second answer can be dialled', async () => {
    const answers = [PUBLIC, PRIVATE];
    let lookups = 0;
    const agent = makeAgent(async () => [four(answers[lookups++ % 2] ?? '')]);
    expect(await reach(agent)).toBe('public');
    expect(lookups).toBe(1);
    expect(await reach(agent)).toBe('EGRESS_REFUSED');
    expect(lookups).toBe(2);
    expect(privateConnections).toBe(0);
    await agent.close();
  });

  it('never reaches the private address, whatever sequence of answers a name gives', async () => {
    const answer = fc.array(fc.constantFrom(PUBLIC, PRIVATE), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 5 }), async (answers) => {
        let turn = 0;
        const agent = makeAgent(async () => (answers[turn++] ?? [PRIVATE]).map(four));
        const before = publicHits;
        let reached = 0;
        for (const addresses of answers) {
          const expected = addresses.includes(PRIVATE) ? 'EGRESS_REFUSED' : 'public';
          expect(await reach(agent)).toBe(expected);
          if (expected === 'public') reached += 1;
        }
        expect(publicHits - before).toBe(reached);
        expect(privateConnections).toBe(0);
        await agent.close();
      }),
      { numRuns: 40 },
    );
  });

  it('tries the next address when the first does not answer', async () => {
    const policy = createEgressPolicy({
      allow: [`${PUBLIC}:${port}`, `127.0.0.3:${port}`],
      resolve: async () => [four('127.0.0.3'), four(PUBLIC)],
    });
    const agent = createGuardedAgent(policy, { tls: { ca: cert } });
    expect(await reach(agent)).toBe('public');
    await agent.close();
  });

  it('tries three addresses of a name and no more, so that each connection has an end', async () => {
    const silent = ['127.0.0.3', '127.0.0.4', '127.0.0.5'];
    const policy = createEgressPolicy({
      allow: [...silent, PUBLIC].map((address) => `${address}:${port}`),
      resolve: async () => [...silent, PUBLIC].map(four),
    });
    const agent = createGuardedAgent(policy, { tls: { ca: cert } });
    expect(await reach(agent)).toBe('ECONNREFUSED');
    await agent.close();
  });

  it('opens no more connections to one origin than it may', async () => {
    const policy = createEgressPolicy({
      allow: [`${PUBLIC}:${port}`],
      resolve: async () => [four(PUBLIC)],
    });
    const agent = createGuardedAgent(policy, { tls: { ca: cert }, connectionsPerOrigin: 1 });
    let connections = 0;
    const count = () => {
      connections += 1;
    };
    publicServer.on('connection', count);
    const url = `https://${NAME}:${port}/hook`;
    const answers = Array.from({ length: 5 }, async () =>
      (await request(url, { dispatcher: agent })).body.text(),
    );
    expect(await Promise.all(answers)).toEqual(Array(5).fill('public'));
    publicServer.off('connection', count);
    expect(connections).toBe(1);
    await agent.close();
  });

  it('refuses addresses, local names and plain http at connect as well', async () => {
    const agent = makeAgent(async () => [four(PUBLIC)]);
    expect(await reach(agent, `https://${PRIVATE}:${port}/`)).toBe('EGRESS_REFUSED');
    expect(await reach(agent, `https://localhost:${port}/`)).toBe('EGRESS_REFUSED');
    expect(await reach(agent, `https://2130706433:${port}/`)).toBe('EGRESS_REFUSED');
    expect(await reach(agent, `https://[::ffff:127.0.0.1]:${port}/`)).toBe('EGRESS_REFUSED');
    expect(await reach(agent, `http://${NAME}:${port}/`)).toBe('EGRESS_REFUSED');
    expect(privateConnections).toBe(0);
    await agent.close();
  });

  it('says when a name does not resolve', async () => {
    const empty = makeAgent(async () => []);
    expect(await reach(empty)).toBe('EGRESS_UNRESOLVED');
    await empty.close();
  });

  it('follows no redirect', async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(302, { location: `https://${PRIVATE}:${port}/` }).end();
    });
    server.listen(0, PRIVATE);
    await once(server, 'listening');
    const agent = createGuardedAgent(createEgressPolicy({ development: true }));
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    const response = await request(url, { dispatcher: agent, method: 'POST', body: '{}' });
    expect(response.statusCode).toBe(302);
    await response.body.dump();
    await agent.close();
    server.close();
    expect(privateConnections).toBe(0);
  });
});

describe('resolveGuarded', () => {
  const policy = createEgressPolicy({
    allow: ['mail.example:993'],
    resolve: async (host) => [four(host === 'mail.example' ? '10.0.0.3' : '93.184.215.14'), four('8.8.8.8')],
  });

  it('gives the address to dial and the name to verify', async () => {
    expect(await resolveGuarded('IMAP.Example', 993, policy)).toEqual({
      address: '93.184.215.14',
      family: 4,
      host: 'imap.example',
      port: 993,
      mayBePlain: false,
      addresses: [four('93.184.215.14'), four('8.8.8.8')],
    });
    expect(await resolveGuarded('2606:4700::1', 993, policy)).toMatchObject({
      address: '2606:4700::1',
      family: 6,
    });
  });

  it('lets an allowed place be private, on its own port alone', async () => {
    expect(await resolveGuarded('mail.example', 993, policy)).toMatchObject({ address: '10.0.0.3' });
    await expect(resolveGuarded('mail.example', 25, policy)).rejects.toMatchObject({ reason: 'private' });
  });

  it.each([
    'localhost',
    '127.0.0.1',
    '0x7f000001',
    '::1',
    'fe80::1%eth0',
    'host/path',
    'a@b',
    '',
    'host:25',
    'host\\path',
    '[::1',
  ])('refuses %j', async (host) => {
    await expect(resolveGuarded(host, 25, policy)).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
  });
});
