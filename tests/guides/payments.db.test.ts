// Every guide of Payments is followed from its first block to its last, and every sample of the reference is run, in an
// empty folder with the packed SDKs, against the real service.
import { rm } from 'node:fs/promises';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { type Guide, readGuides } from '@libs/docs';
import { freePort } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operationsOf } from '../../sdks/test/calls.ts';
import { hasPython } from '../../sdks/test/python.ts';
import { loadConfig } from '../../services/payments/src/config.ts';
import { errors } from '../../services/payments/src/errors.ts';
import { codeSamples } from '../../services/payments/src/guides/samples.ts';
import { paymentsDocs } from '../../services/payments/src/guides/site.ts';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { ADMIN_TOKEN, type Harness, startHarness } from '../contract/payments/harness.ts';
import { follow, groupsOf, stepsOf, tracks, type World } from './follow.ts';
import { runSamples } from './samples.ts';
import { expectWholePages } from './whole-pages.ts';
import { worldWithSdks } from './world.ts';

const RECEIVER_PORT = 3000;
const site = paymentsDocs(loadConfig({}));
const names = ['index', ...site.groups.flatMap(({ pages }) => pages)];
const usable = tracks.filter((track) => track !== 'python' || hasPython);
let harness: Harness;
let second: TestDatabase;
let world: World;
let guides: Map<string, Guide>;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_ACH_MS: '300', PAYMENTS_SANDBOX_RTP_MS: '50' } });
  // For the guide that starts a server of its own.
  second = await createTestDatabase(paymentsMigrations());
  world = await worldWithSdks(
    {
      GUIDE_URL: harness.url,
      PAYMENTS_ADMIN_TOKEN: ADMIN_TOKEN,
      PAYMENTS_PORT: String(await freePort()),
      PAYMENTS_DATABASE_URL: second.url,
    },
    [RECEIVER_PORT],
  );
  world.env.DATA_DIR = `${world.folder}/data`;
  guides = new Map(readGuides({ ...site, publicUrl: harness.url }).map((guide) => [guide.name, guide]));
}, 120_000);
afterAll(async () => {
  await harness.stop();
  await second.drop();
  await rm(world.folder, { recursive: true, force: true });
});

const beginAnew = () => harness.call('POST', '/v1/sandbox/reset');

/** Nobody reads all guides in an empty sandbox: there is the payment of an earlier page, or of somebody else, which has ended. */
async function payAsOnAnotherPage(): Promise<void> {
  const { status, body } = await harness.call('POST', '/v1/payments', {
    headers: { 'idempotency-key': 'another page' },
    body: {
      ...{ amount: 1_700, currency: 'USD', rail: 'rtp' },
      ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' } },
    },
  });
  expect(status).toBe(202);
  const statusNow = async () => (await harness.call('GET', `/v1/payments/${body.id}`)).body.status;
  // Still under way, it would end as a webhook of its own in the middle of the page.
  await expect.poll(statusNow).toBe('completed');
}

describe.each(names)('%s', (name) => {
  test.each(usable)(
    '[P-9.4] is right from its first block to its last, in %s',
    async (track) => {
      const guide = guides.get(name) as Guide;
      if (stepsOf(guide, track).length === 0) return;
      await beginAnew();
      await payAsOnAnotherPage();
      expect(await follow(guide, track, world)).toEqual([]);
      // Whoever reads on finds time as it was: under a clock that stands still the next guide would wait for days of ACH.
      expect((await harness.call('GET', '/v1/sandbox/clock')).body.state).not.toBe('frozen');
    },
    60_000,
  );
});

describe('the reference', () => {
  let slow: Harness;
  beforeAll(async () => {
    // A sample orders what becomes of an ACH payment that is under way: it must not have ended before, however slow the machine is.
    slow = await startHarness({ env: { PAYMENTS_SANDBOX_ACH_MS: '100000', PAYMENTS_SANDBOX_RTP_MS: '50' } });
  });
  afterAll(() => slow.stop());

  test('has code in three languages for every operation that a program may call', async () => {
    const known = Object.values(operationsOf((await harness.call('GET', '/openapi.json')).body));
    const shown = codeSamples(harness.url);
    expect([...shown.keys()].sort()).toEqual([...new Set(known)].sort());
    for (const [operation, samples] of shown)
      expect([operation, samples.map(({ label }) => label)]).toEqual([operation, ['curl', 'Node', 'Python']]);
    const { paths } = (await harness.call('GET', '/docs/reference.json')).body;
    expect(paths['/v1/payments'].post['x-codeSamples']).toHaveLength(3);
  });

  test.each(usable)(
    '[P-9.5] its code works as it is pasted, in %s',
    async (track) => {
      await slow.call('POST', '/v1/sandbox/reset');
      expect(await runSamples(codeSamples(slow.url), track, world)).toEqual([]);
    },
    120_000,
  );
});

describe('what the guides say', () => {
  test('every block is run, written to a file, compared, or says that it is only shown', () => {
    for (const guide of guides.values()) {
      for (const block of groupsOf(guide).flat()) {
        if (block.use === 'run') expect(['sh', 'js', 'python']).toContain(block.language);
        else expect(['file', 'output', 'shown']).toContain(block.use);
      }
    }
    const shown = [...guides.values()]
      .flatMap((guide) => groupsOf(guide).flat())
      .filter((b) => b.use === 'shown');
    expect(shown.length).toBeLessThanOrEqual(1);
  });

  test('every table that the code gives stands on a page, and pages begin with a promise and end with the next step', () =>
    expectWholePages(site, names));

  test('every link of a page leads to a page and a place that are there', async () => {
    const pages = new Map<string, string>();
    const pageAt = async (path: string) => {
      if (!pages.has(path)) {
        const answer = await harness.call('GET', path, { key: null });
        expect([path, answer.status]).toEqual([path, 200]);
        pages.set(path, answer.text);
      }
      return pages.get(path) as string;
    };
    for (const name of names) {
      const html = await pageAt(name === 'index' ? '/docs' : `/docs/${name}`);
      const here = name === 'index' ? '/docs' : `/docs/${name}`;
      for (const [, path, anchor] of html.matchAll(/href="(\/docs[^"#?]*)?(?:\?[^"#]*)?(?:#([^"]*))?"/g)) {
        if (anchor === undefined) continue;
        const target = await pageAt(path ?? here);
        expect([name, anchor, target.includes(`id="${anchor}"`)]).toEqual([name, anchor, true]);
      }
    }
  });

  test('[P-9.6] the type of every error leads to its own place, with what to do and whether to repeat it', async () => {
    const { body } = await harness.call('GET', '/v1/nowhere');
    const page = new URL(body.type).pathname;
    const html = (await harness.call('GET', page, { key: null })).text;
    for (const code of errors.codes) {
      const place = new RegExp(`<h3 id="${code}">[\\s\\S]*?(?=<h[23] |</article>)`).exec(html)?.[0] ?? '';
      expect([code, place.match(/Retryable: <strong>(yes|no)/)?.length]).toEqual([code, 2]);
    }
  });
});
