import { openDatabase } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrationSource, SCHEMA } from '../schema.ts';
import type { OpenResult } from './credential.ts';
import { createRig, type RigOptions, sessionOf } from './test/rig.ts';
import { createRotatingPlatform, type RotatingPlatform } from './test/rotating-platform.ts';

const MINUTE_MS = 60_000;
let db: TestDatabase;
let nowMs: number;
let platform: RotatingPlatform;
let customerId: string;
let nextCustomer = 1;
const now = () => new Date(nowMs);

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
});
afterAll(() => db.drop());
beforeEach(() => {
  nowMs = Date.parse('2026-11-15T10:00:00Z');
  platform = createRotatingPlatform(now);
  customerId = `cus_${nextCustomer++}`;
});

const rig = (options: Partial<RigOptions> = {}) =>
  createRig({ database: db.database, connectors: [platform.connector], now, ...options });

/** A credential that expires after so many minutes. */
function credential(minutes: number | null, refreshToken: string | null = 'refresh-0') {
  return {
    access_token: 'access-0',
    ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
    ...(minutes === null ? {} : { expires_at: new Date(nowMs + minutes * MINUTE_MS).toISOString() }),
  };
}

const connect = (content: unknown, customer = customerId) =>
  rig().credentials.put({
    customerId: customer,
    platform: 'rotating',
    credential: content,
    verify: false,
    standing: async () => {},
  });

const open = (customer = customerId, at = rig()) =>
  at.credentials.open({ session: sessionOf(customer), platform: 'rotating' });

function tokenOf(result: OpenResult): string {
  if (result.kind !== 'ok') return result.kind;
  return (result.opened.credential as { access_token: string }).access_token;
}

async function events(customer = customerId): Promise<string[]> {
  const { rows } = await db.database.query<{ type: string }>(
    'select type from events where customer_id = $1 order by id',
    [customer],
  );
  return rows.map(({ type }) => type);
}

describe('opening a credential', () => {
  it('gives what was stored, to its customer only', async () => {
    await connect(credential(null, null));
    expect(await open()).toMatchObject({
      kind: 'ok',
      opened: {
        platform: 'rotating',
        customerId,
        account: 'someone',
        credential: { access_token: 'access-0' },
      },
    });
    expect(await open('cus_other')).toEqual({ kind: 'not_connected' });
    const internal = { kind: 'internal', name: 'ops', scopes: ['tools:write'] } as const;
    expect(await rig().credentials.open({ session: internal, platform: 'rotating' })).toEqual({
      kind: 'not_connected',
    });
  });

  it('[TH-6.3] does not open a row that was moved to another customer or platform, or was changed', async () => {
    await connect(credential(null));
    const thief = 'cus_thief';
    await connect(credential(null, 'own-refresh'), thief);
    await db.database.query(
      `update credentials set sealed = (select sealed from credentials where customer_id = $1) where customer_id = $2`,
      [customerId, thief],
    );
    const at = rig();
    expect(await open(thief, at)).toEqual({ kind: 'not_connected' });
    expect(at.unreadable).toMatchObject([{ error: { code: 'refused' }, key: { customerId: thief } }]);
    await db.database.query(`update credentials set customer_id = 'cus_moved' where customer_id = $1`, [
      customerId,
    ]);
    expect(await open('cus_moved')).toEqual({ kind: 'not_connected' });
    await db.database.query(
      `update credentials set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1) where customer_id = $1`,
      [thief],
    );
    expect(await open(thief)).toEqual({ kind: 'not_connected' });
  });

  it('opens under an older key, and leaves sealing anew to the rotation', async () => {
    await connect(credential(null));
    const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    expect(tokenOf(await open(customerId, rig({ keys: [newer, older] })))).toBe('access-0');
    expect(tokenOf(await open(customerId, rig({ keys: [older] })))).toBe('access-0');
    expect(await open(customerId, rig({ keys: [newer] }))).toEqual({ kind: 'not_connected' });
  });
});

describe('renewal', () => {
  it('happens a margin before the end, and the new pair is what is stored', async () => {
    await connect(credential(2));
    expect(tokenOf(await open())).toBe('access-0');
    nowMs += 1.5 * MINUTE_MS;
    expect(tokenOf(await open())).toBe('access-1');
    expect(tokenOf(await open())).toBe('access-1');
    expect(platform.refreshes).toBe(1);
    expect(await rig().credentials.get(customerId, 'rotating')).toMatchObject({
      status: 'connected',
      expiresAt: new Date(nowMs + 60 * MINUTE_MS),
    });
  });

  it('[TH-6.5] is done once for many calls in several processes', async () => {
    await connect(credential(-5));
    const second = await openDatabase({ url: db.url, schema: SCHEMA });
    const rigs = [rig(), rig({ database: second }), rig({ database: second })];
    platform.delayMs = 150;
    const results = await Promise.all(
      rigs.flatMap((at) => Array.from({ length: 10 }, () => open(customerId, at))),
    );
    await second.close();
    expect(new Set(results.map(tokenOf))).toEqual(new Set(['access-1']));
    expect(platform).toMatchObject({ refreshes: 1, reused: 0 });
  });

  it('[TH-6.5] stores the new pair before anyone gets it, also when the database stumbles', async () => {
    await connect(credential(-5));
    let failures = 2;
    const stumbling = {
      ...db.database,
      query: ((statement: string | { name: string }, values: unknown[]) => {
        const isStore = typeof statement === 'string' && statement.includes('sealed = $');
        if (isStore && failures-- > 0) return Promise.reject(new Error('connection lost'));
        return db.database.query(statement as string, values);
      }) as typeof db.database.query,
    };
    expect(tokenOf(await open(customerId, rig({ database: stumbling })))).toBe('access-1');
    expect(failures).toBeLessThan(1);
    expect(tokenOf(await open())).toBe('access-1');
    nowMs += 61 * MINUTE_MS;
    failures = 100;
    await expect(open(customerId, rig({ database: stumbling }))).rejects.toThrow('connection lost');
    expect(platform.refreshes).toBe(2);
  });

  it('uses the old token while it works and the platform is down, and says so when it does not', async () => {
    await connect(credential(0.5));
    platform.behaviour = 'unavailable';
    expect(tokenOf(await open())).toBe('access-0');
    nowMs += MINUTE_MS;
    expect(await open()).toMatchObject({ kind: 'unavailable', error: { code: 'platform_unavailable' } });
    expect(await events()).toEqual([]);
    platform.behaviour = 'works';
    expect(tokenOf(await open())).toMatch(/^access-/);
  });

  it('[TH-6.6] marks a refused one as expired, tells once, and asks the platform no more', async () => {
    await connect(credential(-5));
    platform.behaviour = 'refuses';
    const rigs = [rig(), rig()];
    const results = await Promise.all(
      rigs.flatMap((at) => Array.from({ length: 5 }, () => open(customerId, at))),
    );
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['token_expired']));
    expect(await open()).toEqual({ kind: 'token_expired' });
    expect(platform.refreshes).toBe(1);
    expect(await rig().credentials.get(customerId, 'rotating')).toMatchObject({ status: 'expired' });
    expect(await events()).toEqual(['credential.expired']);
    platform.behaviour = 'works';
    await connect(credential(60, 'fresh'));
    expect(tokenOf(await open())).toBe('access-0');
    expect(await events()).toEqual(['credential.expired', 'credential.recovered']);
    await connect(credential(60, 'fresher'));
    expect(await events()).toHaveLength(2);
  });

  it('changes the status and tells of it together or not at all', async () => {
    await connect(credential(-5));
    platform.behaviour = 'refuses';
    const mute = rig({ emitEvent: () => Promise.reject(new Error('no event')) });
    await expect(open(customerId, mute)).rejects.toThrow('no event');
    expect(await rig().credentials.get(customerId, 'rotating')).toMatchObject({ status: 'connected' });
    expect(await events()).toEqual([]);
    expect(await open()).toEqual({ kind: 'token_expired' });
    expect(await events()).toEqual(['credential.expired']);
  });

  it('gives way to a credential that the customer stores meanwhile', async () => {
    await connect(credential(-5));
    platform.during = async () => {
      await connect({ access_token: 'by hand' });
    };
    expect(tokenOf(await open())).toBe('by hand');
    expect(tokenOf(await open())).toBe('by hand');
  });

  it('renews what the customer stored meanwhile when that is due, too', async () => {
    await connect(credential(-5));
    platform.during = async () => {
      if (platform.refreshes === 1) await connect(credential(-1, 'stored-meanwhile'));
    };
    expect(tokenOf(await open())).toBe('access-2');
    expect(platform).toMatchObject({ refreshes: 2, reused: 0 });
  });

  it('ends with a customer who disconnects meanwhile', async () => {
    await connect(credential(-5));
    platform.during = async () => {
      await rig().credentials.remove(customerId, 'rotating');
    };
    expect(await open()).toEqual({ kind: 'not_connected' });
  });

  it('goes on when the process that had begun it is gone', async () => {
    await connect(credential(-5));
    await db.database.query(
      `update credentials set lease_id = 'dead', lease_until = clock_timestamp() + interval '60 ms'
       where customer_id = $1`,
      [customerId],
    );
    expect(tokenOf(await open())).toBe('access-1');
  });
});

describe('the audit log', () => {
  const lines = async (customer = customerId) => {
    const { rows } = await db.database.query(
      `select actor_type, actor_id, action, target, outcome, ip, request_id from audit_entries where customer_id = $1`,
      [customer],
    );
    return rows;
  };
  const expired = {
    ...{ actor_type: 'system', actor_id: 'credentials', action: 'credential.expired' },
    ...{ target: 'rotating', outcome: 'success', ip: null, request_id: null },
  };

  it('[TH-12.1] tells once of a credential whose time is over', async () => {
    await connect(credential(1, null));
    nowMs += 2 * MINUTE_MS;
    await Promise.all([open(), open()]);
    expect(await lines()).toEqual([expired]);
  });

  it('[TH-12.1] tells of one whose renewal is refused, and of no renewal that succeeds', async () => {
    await connect(credential(-5));
    await open();
    expect(await lines()).toEqual([]);
    platform.behaviour = 'refuses';
    nowMs += 2 * 60 * MINUTE_MS;
    expect(await open()).toEqual({ kind: 'token_expired' });
    expect(await lines()).toEqual([expired]);
  });

  it('[TH-12.1] has no line where the credential could not be marked', async () => {
    const emitEvent = () => Promise.reject(new Error('no event'));
    await connect(credential(1, null));
    nowMs += 2 * MINUTE_MS;
    await expect(open(customerId, rig({ emitEvent }))).rejects.toThrow('no event');
    expect(await lines()).toEqual([]);
  });
});

describe('a token that the platform refuses', () => {
  it('is renewed once for all who met the refusal', async () => {
    await connect(credential(60));
    const refused = await open();
    if (refused.kind !== 'ok') throw new Error('not open');
    const at = rig();
    const results = await Promise.all(
      Array.from({ length: 10 }, () => at.credentials.openAfterRefusal(refused.opened)),
    );
    expect(new Set(results.map(tokenOf))).toEqual(new Set(['access-1']));
    expect(tokenOf(await rig().credentials.openAfterRefusal(refused.opened))).toBe('access-1');
    expect(platform.refreshes).toBe(1);
  });

  it('is not given out again while the platform cannot renew it', async () => {
    await connect(credential(60));
    const refused = await open();
    if (refused.kind !== 'ok') throw new Error('not open');
    platform.behaviour = 'unavailable';
    expect(await rig().credentials.openAfterRefusal(refused.opened)).toMatchObject({ kind: 'unavailable' });
  });

  it('is marked as expired where nothing can renew it', async () => {
    await connect(credential(null, null));
    const refused = await open();
    if (refused.kind !== 'ok') throw new Error('not open');
    expect(await rig().credentials.openAfterRefusal(refused.opened)).toEqual({ kind: 'token_expired' });
    expect(await open()).toEqual({ kind: 'token_expired' });
    expect(await events()).toEqual(['credential.expired']);
    await connect(credential(null, null));
    expect(tokenOf(await rig().credentials.openAfterRefusal(refused.opened))).toBe('access-0');
    expect(await events()).toEqual(['credential.expired', 'credential.recovered']);
  });

  it('says nothing of the one that took its place, also where the customer had disconnected in between', async () => {
    await connect(credential(null, null));
    const refused = await open();
    if (refused.kind !== 'ok') throw new Error('not open');
    await rig().credentials.remove(customerId, 'rotating');
    nowMs += 1;
    await connect({ access_token: 'connected anew' });
    expect(tokenOf(await rig().credentials.openAfterRefusal(refused.opened))).toBe('connected anew');
    expect(tokenOf(await open())).toBe('connected anew');
    expect(await events()).toEqual([]);
  });

  it('is renewed for a configured account, too', async () => {
    const at = rig({ internal: { rotating: { two: credential(60, `cfg-${customerId}`) } } });
    const session = { kind: 'internal', name: 'ops', scopes: ['tools:write'] } as const;
    const refused = await at.credentials.open({ session, platform: 'rotating', account: 'two' });
    if (refused.kind !== 'ok') throw new Error('not open');
    expect(tokenOf(await at.credentials.openAfterRefusal(refused.opened))).toBe('access-1');
  });
});

describe('a token that cannot be renewed', () => {
  it('works to its last moment and is then shown, told and refused as expired', async () => {
    await connect(credential(1, null));
    nowMs += 59_000;
    expect(tokenOf(await open())).toBe('access-0');
    nowMs += 1_000;
    expect(await rig().credentials.get(customerId, 'rotating')).toMatchObject({ status: 'expired' });
    const results = await Promise.all(Array.from({ length: 5 }, () => open()));
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['token_expired']));
    expect(await events()).toEqual(['credential.expired']);
  });
});

describe('a credential that has run out already when it is stored', () => {
  const stored = async () => {
    const { rows } = await db.database.query<{ status: string }>(
      'select status from credentials where customer_id = $1',
      [customerId],
    );
    return rows.map(({ status }) => status);
  };

  it('is no recovery of an expired one, and the next that works is', async () => {
    await connect(credential(1, null));
    nowMs += 2 * MINUTE_MS;
    expect(await open()).toEqual({ kind: 'token_expired' });
    expect(await connect(credential(-1, null))).toMatchObject({ status: 'expired' });
    expect(await stored()).toEqual(['expired']);
    expect(await open()).toEqual({ kind: 'token_expired' });
    expect(await events()).toEqual(['credential.expired']);
    expect(await connect(credential(5, null))).toMatchObject({ status: 'connected' });
    expect(tokenOf(await open())).toBe('access-0');
    expect(await events()).toEqual(['credential.expired', 'credential.recovered']);
  });

  it('ends one that worked, which is told when it is found', async () => {
    await connect(credential(60, null));
    expect(await connect(credential(-1, null))).toMatchObject({ status: 'expired' });
    for (const _call of [1, 2]) expect(await open()).toEqual({ kind: 'token_expired' });
    expect(await events()).toEqual(['credential.expired']);
    await connect(credential(5, null));
    expect(await events()).toEqual(['credential.expired', 'credential.recovered']);
  });

  it('is connected where it can be renewed', async () => {
    expect(await connect(credential(-1))).toMatchObject({ status: 'connected' });
    expect(await stored()).toEqual(['connected']);
    expect(tokenOf(await open())).toBe('access-1');
  });
});

describe('configured accounts', () => {
  const session = { kind: 'internal', name: 'ops', scopes: ['tools:write'] } as const;
  const internal = () => ({
    rotating: { one: { access_token: 'configured' }, two: credential(-5, `cfg-${customerId}`) },
  });

  it('are chosen by name, and by being the only one', async () => {
    const at = rig({ internal: internal() });
    expect(at.credentials.internalAccounts.names('rotating')).toEqual(['one', 'two']);
    const one = await at.credentials.open({ session, platform: 'rotating', account: 'one' });
    expect(one).toMatchObject({
      kind: 'ok',
      opened: { customerId: null, account: 'one', credential: { access_token: 'configured' } },
    });
    expect(await at.credentials.open({ session, platform: 'rotating' })).toEqual({ kind: 'not_connected' });
    expect(await at.credentials.open({ session, platform: 'rotating', account: 'three' })).toEqual({
      kind: 'not_connected',
    });
    expect(
      await at.credentials.open({ session: sessionOf('cus_x'), platform: 'rotating', account: 'one' }),
    ).toEqual({ kind: 'not_connected' });
    const lone = rig({ internal: { rotating: { only: { access_token: 'alone' } } } });
    expect(tokenOf(await lone.credentials.open({ session, platform: 'rotating' }))).toBe('alone');
  });

  it('are renewed once and keep the new pair until the settings change', async () => {
    const settings = internal();
    const openTwo = (at: ReturnType<typeof rig>) =>
      at.credentials.open({ session, platform: 'rotating', account: 'two' });
    const rigs = [rig({ internal: settings }), rig({ internal: settings })];
    const results = await Promise.all(rigs.flatMap((at) => Array.from({ length: 5 }, () => openTwo(at))));
    expect(new Set(results.map(tokenOf))).toEqual(new Set(['access-1']));
    expect(platform).toMatchObject({ refreshes: 1, reused: 0 });
    expect(tokenOf(await openTwo(rig({ internal: settings })))).toBe('access-1');
    const changed = { rotating: { two: { ...credential(60, 'changed'), access_token: 'new settings' } } };
    expect(tokenOf(await openTwo(rig({ internal: changed })))).toBe('new settings');
    platform.behaviour = 'refuses';
    nowMs += 120 * MINUTE_MS;
    expect(await openTwo(rig({ internal: changed }))).toEqual({ kind: 'token_expired' });
    expect(await events('internal')).toEqual([]);
  });

  it('that were refused are tried again, once in ten minutes, and work when the refusal has passed', async () => {
    const settings = { rotating: { two: credential(60, `passing-${customerId}`) } };
    const openTwo = () =>
      rig({ internal: settings }).credentials.open({ session, platform: 'rotating', account: 'two' });
    expect(tokenOf(await openTwo())).toBe('access-0');
    platform.behaviour = 'refuses';
    nowMs += 60 * MINUTE_MS;
    expect(await openTwo()).toEqual({ kind: 'token_expired' });
    nowMs += 9 * MINUTE_MS;
    expect(await openTwo()).toEqual({ kind: 'token_expired' });
    expect(platform.refreshes).toBe(1);
    nowMs += MINUTE_MS;
    for (let call = 0; call < 3; call += 1) expect(await openTwo()).toEqual({ kind: 'token_expired' });
    expect(platform.refreshes).toBe(2);
    platform.behaviour = 'works';
    expect(await openTwo()).toEqual({ kind: 'token_expired' });
    nowMs += 10 * MINUTE_MS;
    const results = await Promise.all(Array.from({ length: 5 }, openTwo));
    expect(new Set(results.map(tokenOf))).toEqual(new Set(['access-3']));
    expect(platform).toMatchObject({ refreshes: 3, reused: 0 });
  });

  it('that cannot be renewed any more are not mixed up with what the settings had before', async () => {
    const before = rig({ internal: { rotating: { of_old: credential(60, `old-${customerId}`) } } });
    const opening = { session, platform: 'rotating', account: 'of_old' };
    expect(tokenOf(await before.credentials.open(opening))).toBe('access-0');
    const at = rig({ internal: { rotating: { of_old: { access_token: 'another account' } } } });
    const refused = await at.credentials.open(opening);
    if (refused.kind !== 'ok') throw new Error('not open');
    expect(tokenOf(refused)).toBe('another account');
    expect(await at.credentials.openAfterRefusal(refused.opened)).toEqual({ kind: 'token_expired' });
  });

  it('begin anew from the settings where the key that sealed their tokens is lost', async () => {
    const settings = { rotating: { lost: credential(60, `lost-${customerId}`) } };
    const opening = { session, platform: 'rotating', account: 'lost' };
    const before = rig({ internal: settings });
    expect(tokenOf(await before.credentials.open(opening))).toBe('access-0');
    nowMs += 60 * MINUTE_MS;
    expect(tokenOf(await before.credentials.open(opening))).toBe('access-1');
    const after = () => rig({ internal: settings, keys: [Buffer.alloc(32, 2)] });
    nowMs -= 30 * MINUTE_MS;
    expect(tokenOf(await after().credentials.open(opening))).toBe('access-0');
    nowMs += 30 * MINUTE_MS;
    const both = await Promise.all([after(), after()].map((at) => at.credentials.open(opening)));
    expect(both.map(tokenOf)).toEqual(['access-2', 'access-2']);
  });

  it('stop the start when they do not fit, and name the places without the values', () => {
    const bad = { rotating: { a: { access_token: 7, refresh_token: 'hush' } }, nowhere: {} };
    expect(() => rig({ internal: bad })).toThrow(/rotating\/a: \/access_token .*nowhere/);
    expect(() => rig({ internal: bad })).not.toThrow(/hush/);
  });
});
