// The limits of the pool, with connections that only count: what they say to a server is tried elsewhere.
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import { describe, expect, it } from 'vitest';
import type { ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { createImapPool, type ImapPoolLimits } from './pool.ts';

class CountedConnection extends EventEmitter {
  usable = true;
  asked = 0;

  async noop(): Promise<void> {
    this.asked += 1;
  }

  close(): void {
    if (!this.usable) return;
    this.usable = false;
    this.emit('close');
  }
}

function makePool(limits: Partial<ImapPoolLimits & { total: number }> = {}) {
  const opened: CountedConnection[] = [];
  let nowMs = 0;
  const connections = () => opened.filter(({ usable }) => usable).length;
  let most = 0;
  const pool = createImapPool({
    limits: { perAccount: 2, total: 3, waitersPerAccount: 4, waitMs: 1_000, idleMs: 1_000, ...limits },
    nowMs: () => nowMs,
    connect: async () => {
      await sleep(1);
      const connection = new CountedConnection();
      opened.push(connection);
      most = Math.max(most, connections());
      return connection as unknown as ImapFlow;
    },
  });
  return { pool, opened, connections, most: () => most, passMs: (ms: number) => (nowMs += ms) };
}

function account(name: string, signal = new AbortController().signal): ToolContext<EmailCredential> {
  const imap = { host: 'mail.example', port: 993, user: name, password: 'secret' };
  return {
    customerId: name,
    account: name,
    credential: { imap, smtp: imap, from: name },
    signal,
  } as ToolContext<EmailCredential>;
}

const work = async () => {
  await sleep(5);
  return 'done';
};

describe('the IMAP pool', () => {
  it('never opens more than it may for one account, and serves everybody', async () => {
    const { pool, most } = makePool();
    const calls = Array.from({ length: 6 }, () => pool.use(account('a'), work));
    expect(await Promise.all(calls)).toEqual(Array(6).fill('done'));
    expect(most()).toBe(2);
    expect(pool.size()).toEqual({ open: 2, idle: 2 });
    await pool.close();
    expect(pool.size()).toEqual({ open: 0, idle: 0 });
  });

  it('turns away whom it cannot serve in time', async () => {
    const { pool } = makePool({ waitMs: 20 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const busy = [1, 2].map(() => pool.use(account('a'), () => promise));
    await sleep(5);
    const waiting = Array.from({ length: 5 }, () =>
      pool.use(account('a'), work).catch((error) => error.code),
    );
    expect(await Promise.all(waiting)).toEqual(Array(5).fill('rate_limited'));
    resolve();
    await Promise.all(busy);
    expect(await pool.use(account('a'), work)).toBe('done');
    await pool.close();
  });

  it('closes the connection that rested longest when all places are taken', async () => {
    const { pool, opened, connections } = makePool({ total: 2 });
    await pool.use(account('a'), work);
    await pool.use(account('b'), work);
    await pool.use(account('c'), work);
    expect(opened.map(({ usable }) => usable)).toEqual([false, true, true]);
    expect(connections()).toBe(2);
    const { promise, resolve } = Promise.withResolvers<void>();
    const busy = ['b', 'c'].map((name) => pool.use(account(name), () => promise));
    await sleep(5);
    await expect(pool.use(account('d'), work)).rejects.toMatchObject({ code: 'rate_limited' });
    resolve();
    await Promise.all(busy);
    await pool.close();
  });

  it('shares no connection between customers or after a new password', async () => {
    const { pool, opened } = makePool();
    await pool.use(account('a'), work);
    await pool.use(account('a'), work);
    expect(opened).toHaveLength(1);
    await pool.use({ ...account('a'), customerId: 'other' }, work);
    const changed = account('a');
    const imap = { ...changed.credential.imap, password: 'new' };
    await pool.use({ ...changed, credential: { ...changed.credential, imap } } as typeof changed, work);
    expect(opened).toHaveLength(3);
    await pool.close();
  });

  it('asks a rested connection for a sign of life, and opens another when none comes', async () => {
    const { pool, opened, passMs } = makePool({ freshMs: 100, idleMs: 60_000 });
    await pool.use(account('a'), work);
    passMs(99);
    await pool.use(account('a'), work);
    expect(opened[0]?.asked).toBe(0);
    passMs(101);
    await pool.use(account('a'), work);
    expect(opened[0]?.asked).toBe(1);
    passMs(101);
    (opened[0] as CountedConnection).noop = () => Promise.reject(new Error('gone'));
    await pool.use(account('a'), work);
    expect(opened).toHaveLength(2);
    expect(pool.size()).toEqual({ open: 1, idle: 1 });
    await pool.close();
  });

  it('tries once more on a new connection when a kept one breaks, and not when a new one does', async () => {
    const { pool, opened } = makePool();
    await pool.use(account('a'), work);
    const breaking = (times: number) => {
      let calls = 0;
      return async (client: ImapFlow) => {
        calls += 1;
        if (calls > times) return 'done';
        client.close();
        throw Object.assign(new Error('connection lost'), { code: 'NoConnection' });
      };
    };
    expect(await pool.use(account('a'), breaking(1))).toBe('done');
    expect(opened).toHaveLength(2);
    await expect(pool.use(account('b'), breaking(1))).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect(pool.size()).toEqual({ open: 1, idle: 1 });
    await pool.close();
  });

  it('lets go of calls that are cancelled, while they wait and while they work', async () => {
    const { pool, opened } = makePool({ perAccount: 1 });
    const working = new AbortController();
    const waiting = new AbortController();
    const first = pool.use(account('a', working.signal), () => new Promise(() => {}));
    // A cancelled call's connection is closed, which in a real one ends the command under way.
    const ended = Promise.race([first, sleep(50, 'still there')]);
    await sleep(5);
    const second = pool.use(account('a', waiting.signal), work);
    waiting.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    working.abort(new Error('stop'));
    expect(opened[0]?.usable).toBe(false);
    await ended;
    await pool.close();
  });

  it('closes what nobody uses', async () => {
    const { pool, connections } = makePool({ idleMs: 10 });
    await pool.use(account('a'), work);
    expect(connections()).toBe(1);
    await expect.poll(connections).toBe(0);
    expect(pool.size()).toEqual({ open: 0, idle: 0 });
    await pool.close();
    await expect(pool.use(account('a'), work)).rejects.toMatchObject({ code: 'platform_unavailable' });
  });
});
