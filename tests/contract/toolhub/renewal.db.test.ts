// Tokens that end, for every platform that renews them, against servers of the vendors' contracts: one renewal however
// many ask in however many processes, a death between the vendor's answer and our store, and the upkeep ahead.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Connector,
  ConnectorError,
  type OAuthClient,
} from '../../../services/toolhub/src/connectors/connector.ts';
import { createConnectors } from '../../../services/toolhub/src/connectors/index.ts';
import type { OpenResult } from '../../../services/toolhub/src/credentials/credential.ts';
import { createRig, sessionOf } from '../../../services/toolhub/src/credentials/test/rig.ts';
import { migrationSource } from '../../../services/toolhub/src/schema.ts';
import { startBluesky } from '../../vendors/bluesky/server.ts';
import { startDiscord } from '../../vendors/discord/server.ts';
import { startFacebook } from '../../vendors/facebook/server.ts';
import { startInstagram } from '../../vendors/instagram/server.ts';
import { startLinkedin } from '../../vendors/linkedin/server.ts';
import { startSlack } from '../../vendors/slack/server.ts';
import type { VendorServer } from '../../vendors/vendor-server.ts';
import { startX } from '../../vendors/x/server.ts';

const DAY_MS = 24 * 60 * 60_000;
let db: TestDatabase;
const clock = { offsetMs: 0 };
const now = () => new Date(Date.now() + clock.offsetMs);
const inMs = (ms: number) => new Date(now().getTime() + ms).toISOString();

interface Trial {
  platform: string;
  server: VendorServer;
  /** One that is over, or about to be. */
  credential: () => Record<string, unknown>;
  isRenewal(path: string): boolean;
  tokenPath?: string;
  /** A tool that reads. */
  tool: string;
  /** Whether a vendor whose answer was lost can be asked again. */
  survives: boolean;
}
const trials = new Map<string, Trial>();
const PLATFORMS = ['slack', 'discord', 'x', 'linkedin', 'facebook', 'instagram', 'bluesky'];

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  const [slack, discord, x, linkedin, facebook, instagram, bluesky] = await Promise.all([
    startSlack(),
    startDiscord(),
    startX(),
    startLinkedin(),
    startFacebook(),
    startInstagram(),
    startBluesky(),
  ]);
  // Tokens that the vendors will give, and take.
  for (let n = 1; n < 20; n += 1) {
    slack.tokens.set(`renewed-access-${n}`, { user: 'ada', kind: 'user' });
    discord.people.set(`renewed-access-${n}`, 'ada');
    x.tokens.set(`renewed-access-${n}`, '100');
    linkedin.tokens.set(`renewed-access-${n}`, '782bbtaQ');
  }
  let serial = 0;
  const rotating = (
    platform: string,
    server: VendorServer & { endpoint: { issue(token: string): void } },
    path: string,
    tokenPath?: string,
  ): Trial => ({
    ...{ platform, server, survives: false, isRenewal: (asked) => asked === path },
    tool: platform === 'slack' ? 'slack_list_channels' : `${platform}_get_profile`,
    ...(tokenPath === undefined ? {} : { tokenPath }),
    credential() {
      serial += 1;
      server.endpoint.issue(`refresh-${platform}-${serial}`);
      const refresh_token = `refresh-${platform}-${serial}`;
      return { access_token: 'over', refresh_token, expires_at: inMs(-1_000) };
    },
  });
  const graph = (
    platform: string,
    server: VendorServer & { tokens: Map<string, string> },
    path: string,
    tokenPath?: string,
  ): Trial => ({
    ...{ platform, server, survives: true, isRenewal: (asked) => asked === path },
    tool: platform === 'facebook' ? 'facebook_list_pages' : 'instagram_get_profile',
    ...(tokenPath === undefined ? {} : { tokenPath }),
    credential() {
      server.tokens.set('short-token', '1001');
      return { access_token: 'short-token', expires_at: inMs(30_000) };
    },
  });
  bluesky.addAccount('ada.test', 'app-pass-word');
  for (const trial of [
    rotating('slack', slack, '/oauth.v2.access'),
    rotating('discord', discord, '/oauth2/token'),
    rotating('x', x, '/2/oauth2/token'),
    rotating('linkedin', linkedin, '/oauth/v2/accessToken', '/oauth/v2/accessToken'),
    graph('facebook', facebook, '/oauth/access_token', '/oauth/access_token'),
    graph('instagram', instagram, '/refresh_access_token'),
    {
      ...{ platform: 'bluesky', server: bluesky, survives: true, tool: 'bluesky_get_timeline' },
      isRenewal: (path: string) => path.endsWith('.createSession') || path.endsWith('.refreshSession'),
      credential: () => ({ service: bluesky.url, identifier: 'ada.test', app_password: 'app-pass-word' }),
    },
  ])
    trials.set(trial.platform, trial);
});
afterAll(async () => {
  await Promise.all([...trials.values()].map(({ server }) => server.stop()));
  await db?.drop();
});

function rigFor(
  { platform, server, tokenPath }: Trial,
  change: (connector: Connector) => Connector = (same) => same,
) {
  const client: OAuthClient = {
    ...{ clientId: 'client-1', clientSecret: 'client-secret', authorizeUrl: null },
    tokenUrl: tokenPath === undefined ? null : `${server.url}${tokenPath}`,
  };
  return createRig({
    ...{ database: db.database, now, allow: [new URL(server.url).host] },
    ...{ baseUrls: { [platform]: server.url }, oauthClients: { [platform]: client } },
    connectors: createConnectors().map((one) => (one.id === platform ? change(one) : one)),
  });
}
type Rig = ReturnType<typeof rigFor>;

/** One call: the credential is opened, and the platform asked with what came of it. */
async function callWith({ credentials, connectors }: Rig, trial: Trial, customerId: string) {
  const { platform } = trial;
  let result: OpenResult = await credentials.open({ session: sessionOf(customerId), platform });
  for (let renewal = 0; renewal < 2 && result.kind === 'ok'; renewal += 1) {
    const { version: _version, ...opened } = result.opened;
    const tool = connectors.find(platform)?.tools.find(({ name }) => name === trial.tool);
    try {
      await tool?.run({ limit: 1 }, connectors.context(opened));
      return 'ok';
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.code !== 'token_expired') throw error;
    }
    result = await credentials.openAfterRefusal(result.opened);
  }
  return result.kind === 'ok' ? 'loops' : result.kind;
}

let people = 0;
async function connected(rig: Rig, { platform, credential }: Trial): Promise<string> {
  people += 1;
  const customerId = `cus_renewal_${people}`;
  await rig.credentials.put({
    customerId,
    platform,
    credential: credential(),
    verify: false,
    standing: async () => {},
  });
  return customerId;
}
const renewals = ({ server, isRenewal }: Trial) =>
  server.received.filter(({ path }) => isRenewal(path)).length;
const trialOf = (platform: string) => trials.get(platform) as Trial;

describe.each(PLATFORMS)('%s', (platform) => {
  test('[TH-6.5] ten parallel calls over two processes: one renewal, ten successes', async () => {
    const trial = trialOf(platform);
    const rigs = [rigFor(trial), rigFor(trial)] as const;
    const customerId = await connected(rigs[0], trial);
    // The first look at Bluesky logs in, and what it gave is then over like any other token.
    const before = renewals(trial);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => callWith(rigs[n % 2] as Rig, trial, customerId)),
    );
    expect(outcomes).toEqual(Array(10).fill('ok'));
    expect(renewals(trial) - before).toBe(1);
    await Promise.all(rigs.map(({ connectors }) => connectors.close()));
  });

  test('[TH-6.5] a death between the vendor’s answer and our store: the next call works or says token_expired', async () => {
    const trial = trialOf(platform);
    const never = new Promise<never>(() => {});
    const dying = rigFor(trial, (connector) => ({
      ...connector,
      async refresh(context) {
        await connector.refresh?.(context);
        return never;
      },
    }));
    const customerId = await connected(dying, trial);
    const before = renewals(trial);
    void callWith(dying, trial, customerId);
    await expect.poll(() => renewals(trial) - before).toBe(1);
    // What a minute does: the lease of the dead ends by itself.
    await db.database.query(`update credentials set lease_until = now() where customer_id = $1`, [
      customerId,
    ]);
    const living = rigFor(trial);
    expect(await callWith(living, trial, customerId)).toBe(trial.survives ? 'ok' : 'token_expired');
    const asked = renewals(trial);
    expect(asked - before).toBe(2);
    expect(await callWith(living, trial, customerId)).toBe(trial.survives ? 'ok' : 'token_expired');
    expect(renewals(trial)).toBe(asked);
    await Promise.all([dying, living].map(({ connectors }) => connectors.close()));
  });
});

const unregisteredRig = ({ platform, server }: Trial) =>
  createRig({
    ...{ database: db.database, now, allow: [new URL(server.url).host] },
    ...{ baseUrls: { [platform]: server.url }, connectors: createConnectors() },
  });
const events = async (customerId: string) =>
  (
    await db.database.query<{ type: string; data: Record<string, unknown> }>(
      'select type, data from events where customer_id = $1 order by id',
      [customerId],
    )
  ).rows;

describe.each(['slack', 'discord', 'x', 'linkedin'])('the registration at %s', (platform) => {
  test('[TH-6.6] that is gone ends no connection that was made with it', async () => {
    const trial = trialOf(platform);
    const [registered, unregistered] = [rigFor(trial), unregisteredRig(trial)];
    const customerId = await connected(registered, trial);
    expect(await callWith(unregistered, trial, customerId)).toBe('unavailable');
    expect(await events(customerId)).toEqual([]);
    expect(await callWith(registered, trial, customerId)).toBe('ok');
    await Promise.all([registered, unregistered].map(({ connectors }) => connectors.close()));
  });

  test('[TH-6.6] that never was: a token that ends is over, and its customer is told', async () => {
    const trial = trialOf(platform);
    const unregistered = unregisteredRig(trial);
    const customerId = await connected(unregistered, trial);
    expect(await callWith(unregistered, trial, customerId)).toBe('token_expired');
    expect(await events(customerId)).toMatchObject([{ type: 'credential.expired', data: { platform } }]);
    await unregistered.connectors.close();
  });
});

describe('upkeep', () => {
  const work = async ({ credentials }: Rig) => {
    const [handler] = credentials.jobs.handlers;
    await handler?.handle([], { signal: new AbortController().signal } as never);
  };
  const endOf = async (rig: Rig, customerId: string, platform: string) =>
    (await rig.credentials.get(customerId, platform))?.expiresAt?.getTime() ?? 0;

  test.each(['facebook', 'instagram'])(
    '[TH-6.11] %s: a token that can only be renewed while it works is renewed ahead, though nobody calls',
    async (platform) => {
      const trial = trialOf(platform);
      const rig = rigFor(trial);
      const ending = {
        ...trial,
        credential: () => ({ ...trial.credential(), expires_at: inMs(20 * DAY_MS) }),
      };
      const customerId = await connected(rig, ending);
      await work(rig);
      expect(await endOf(rig, customerId, platform)).toBeGreaterThan(now().getTime() + 50 * DAY_MS);
      expect(await events(customerId)).toEqual([]);
      await rig.connectors.close();
    },
  );

  test.each(['facebook', 'instagram'])(
    '[TH-6.11] %s: a token that can only be renewed while it works is over when it ends, and nobody is asked',
    async (platform) => {
      const trial = trialOf(platform);
      const rig = rigFor(trial);
      const credential = () => ({ ...trial.credential(), expires_at: inMs(-1_000) });
      const customerId = await connected(rig, { ...trial, credential });
      const asked = trial.server.received.length;
      expect((await rig.credentials.get(customerId, platform))?.status).toBe('expired');
      expect(await callWith(rig, trial, customerId)).toBe('token_expired');
      expect(await events(customerId)).toMatchObject([{ type: 'credential.expired', data: { platform } }]);
      const unused = await connected(rig, { ...trial, credential });
      await work(rig);
      expect(await events(unused)).toMatchObject([{ type: 'credential.expired', data: { platform } }]);
      expect(trial.server.received.length).toBe(asked);
      await rig.connectors.close();
    },
  );

  test('[TH-6.11] a token that nobody can open holds up the renewal of no other', async () => {
    const trial = trialOf('facebook');
    const rig = rigFor(trial);
    const endingIn = (days: number) =>
      connected(rig, {
        ...{ ...trial, credential: () => ({ ...trial.credential(), expires_at: inMs(days * DAY_MS) }) },
      });
    const lost = await endingIn(9);
    const other = await endingIn(10);
    await db.database.query(`update credentials set sealed = '\\x00' where customer_id = $1`, [lost]);
    await work(rig);
    expect(await endOf(rig, other, 'facebook')).toBeGreaterThan(now().getTime() + 50 * DAY_MS);
    expect(rig.unreadable).toMatchObject([{ key: { customerId: lost } }]);
    const { rows } = await db.database.query('select 1 from credentials where lease_id is not null');
    expect(rows).toEqual([]);
    await db.database.query('delete from credentials where customer_id = $1', [lost]);
    await rig.connectors.close();
  });

  test('[TH-6.11] nobody is warned of a token that calls renew or that has ended, nor of an account of the operator', async () => {
    const trial = trialOf('slack');
    const rig = rigFor(trial);
    const ending = { ...trial, credential: () => ({ ...trial.credential(), expires_at: inMs(DAY_MS) }) };
    const customerId = await connected(rig, ending);
    const late = await connected(rig, {
      ...{ ...trial, credential: () => ({ access_token: 'mine', expires_at: inMs(-DAY_MS) }) },
    });
    await db.database.query(
      `insert into credentials (customer_id, platform, slot, account, status, sealed, expires_at, refreshable,
         created_at, updated_at) values ('internal', 'slack', 'ops', 'ops', 'connected', '', $2, false, $1, $1)`,
      [now(), inMs(DAY_MS)],
    );
    await work(rig);
    expect([await events(customerId), await events(late), await events('internal')]).toEqual([[], [], []]);
    await rig.connectors.close();
  });

  test('[TH-6.11] a renewal ahead that is refused gives up nothing, and the customer is warned once before the end', async () => {
    const trial = trialOf('facebook');
    const unregistered = unregisteredRig(trial);
    const linkedin = {
      ...trialOf('linkedin'),
      credential: () => ({ access_token: 'mine', expires_at: inMs(12 * DAY_MS) }),
    };
    const ending = {
      ...trial,
      credential: () => ({ access_token: 'short-token', expires_at: inMs(12 * DAY_MS) }),
    };
    const customers = [await connected(unregistered, ending), await connected(unregistered, linkedin)];
    await work(unregistered);
    for (const id of customers) expect(await events(id)).toEqual([]);
    clock.offsetMs += 6 * DAY_MS;
    await work(unregistered);
    await work(unregistered);
    for (const [n, id] of customers.entries())
      expect(await events(id)).toEqual([
        {
          type: 'credential.expiring',
          data: expect.objectContaining({
            platform: n === 0 ? 'facebook' : 'linkedin',
            expires_at: expect.any(String),
          }),
        },
      ]);
    const kept = await unregistered.credentials.get(customers[0] as string, 'facebook');
    expect(kept?.status).toBe('connected');
    // Once it has ended, a refusal ends the connection, though nobody calls.
    clock.offsetMs += 6 * DAY_MS;
    await work(unregistered);
    expect((await events(customers[0] as string)).map(({ type }) => type)).toEqual([
      ...['credential.expiring', 'credential.expired'],
    ]);
    await unregistered.connectors.close();
  });
});
