// The way out: what the guard refuses is never dialled, and no answer can hold the service up.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from './egress.ts';

let server: Server;
let place: string;
let requests = 0;
const open: Egress[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    if (request.url === '/redirect') {
      response.writeHead(302, { location: '/elsewhere' }).end();
    } else if (request.url === '/endless') {
      const timer = setInterval(() => response.write('x'.repeat(1_000_000)), 1);
      response.on('close', () => clearInterval(timer));
    } else if (request.url === '/agent') {
      response.end(request.headers['user-agent'] ?? 'nobody');
    } else if (request.url === '/denied') {
      response.writeHead(999).end('denied');
    } else if (request.url === '/empty') {
      response.writeHead(204).end();
    } else {
      response
        .setHeader('set-cookie', ['a=1', 'b=2'])
        .end(`${request.method} ${request.headers['x-test'] ?? ''}`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await Promise.all(open.map((egress) => egress.close()));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function egressTo(allow: string[], resolve?: Parameters<typeof createEgress>[0]['resolve']): Egress {
  const egress = createEgress({ allow, ...(resolve ? { resolve } : {}) });
  open.push(egress);
  return egress;
}

const signal = () => new AbortController().signal;

describe('the guarded fetch', () => {
  it('reaches allowed places and gives the answer as it is', async () => {
    const fetch = egressTo([place]).fetch(signal());
    const answer = await fetch(`http://${place}/x`, {
      method: 'POST',
      headers: { 'x-test': 'y' },
      body: 'z',
    });
    expect(await answer.text()).toBe('POST y');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect((await fetch(`http://${place}/empty`)).status).toBe(204);
  });

  it('says who asks, unless a platform wants it said in its own way', async () => {
    const fetch = egressTo([place]).fetch(signal());
    expect(await (await fetch(`http://${place}/agent`)).text()).toBe('Toolhub');
    const headers = { 'user-agent': 'DiscordBot (https://example.com, 1)' };
    expect(await (await fetch(`http://${place}/agent`, { headers })).text()).toBe(headers['user-agent']);
  });

  it('follows no redirect', async () => {
    const answer = await egressTo([place]).fetch(signal())(`http://${place}/redirect`);
    expect(answer.status).toBe(302);
  });

  it('dials nothing that the policy refuses, however it is named', async () => {
    const before = requests;
    const port = place.split(':')[1];
    const rebinding = async () => [{ address: '127.0.0.1', family: 4 as const }];
    const fetch = egressTo([], rebinding).fetch(signal());
    for (const url of [
      `http://${place}/`,
      `https://127.0.0.1:${port}/`,
      `https://name.example:${port}/`,
      `https://[::1]:${port}/`,
    ]) {
      await expect(fetch(url), url).rejects.toMatchObject({ code: 'address_refused' });
    }
    expect(requests).toBe(before);
  });

  it('takes a status that is none for a refusal: it has answered, and nothing is open', async () => {
    const fetch = egressTo([place]).fetch(signal());
    await expect(fetch(`http://${place}/denied`, { method: 'POST' })).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: '999', outcomeOpen: false },
      message: '127.0.0.1 refused with HTTP 999',
    });
  });

  it('gives up on answers without end and on names without address', async () => {
    const fetch = egressTo([place], async () => []).fetch(signal());
    await expect(fetch(`http://${place}/endless`)).rejects.toMatchObject({ code: 'platform_unavailable' });
    await expect(fetch('https://nowhere.example/')).rejects.toMatchObject({ code: 'platform_unavailable' });
  });
});

describe('the guard', () => {
  it('pins the address, keeps the name, and knows where plain text is allowed', async () => {
    const resolve = async () => [{ address: '93.184.216.34', family: 4 as const }];
    const { guard } = egressTo(['mail.example:143', '127.0.0.1:25'], resolve);
    expect(await guard.resolve({ host: 'Mail.Example', port: 143 })).toMatchObject({
      host: 'mail.example',
      port: 143,
      address: '93.184.216.34',
      family: 4,
      mayBePlain: true,
    });
    expect(await guard.resolve({ host: 'mail.example', port: 993 })).toMatchObject({ mayBePlain: false });
    expect(await guard.resolve({ host: '127.0.0.1', port: 25 })).toMatchObject({ mayBePlain: true });
    await expect(guard.resolve({ host: '127.0.0.1', port: 26 })).rejects.toMatchObject({
      code: 'address_refused',
    });
    await expect(guard.resolve({ host: '2130706433', port: 25 })).resolves.toMatchObject({
      address: '127.0.0.1',
    });
    await expect(guard.resolve({ host: '0x7f.1', port: 26 })).rejects.toMatchObject({
      code: 'address_refused',
    });
    await expect(guard.resolve({ host: 'db.internal', port: 25 })).rejects.toMatchObject({
      code: 'address_refused',
    });
    await expect(guard.resolve({ host: 'a/b@c', port: 25 })).rejects.toMatchObject({
      code: 'address_refused',
    });
  });
});
