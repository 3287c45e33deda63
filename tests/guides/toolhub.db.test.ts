// Every guide of Toolhub is followed in a terminal, from its first block to its last, against the real service.
import { rm } from 'node:fs/promises';
import type { TestDatabase } from '@libs/db/testing';
import { readGuides } from '@libs/docs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Config } from '../../services/toolhub/src/config.ts';
import { createConnectors } from '../../services/toolhub/src/connectors/index.ts';
import { errors } from '../../services/toolhub/src/errors.ts';
import { toolhubDocs } from '../../services/toolhub/src/guides/site.ts';
import {
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../services/toolhub/test/instance.ts';
import { follow, groupsOf, type World } from './follow.ts';
import { expectWholePages } from './whole-pages.ts';
import { emptyWorld } from './world.ts';

const site = toolhubDocs(
  { server: { publicUrl: 'http://localhost:4100' } as Config['server'] },
  createConnectors(),
);
const names = ['index', ...site.groups.flatMap(({ pages }) => pages)];
let database: TestDatabase;
let service: Instance;
let world: World;

beforeAll(async () => {
  database = await createToolhubDatabase();
  service = await startInstance(database.url, { jobs: true });
  world = emptyWorld({ TOKEN: INTERNAL_TOKEN });
}, 120_000);
afterAll(async () => {
  await service.stop();
  await database.drop();
  await rm(world.folder, { recursive: true, force: true });
});

test.each(names)(
  '%s is right from its first block to its last',
  async (name) => {
    const guides = readGuides({ ...site, publicUrl: service.url });
    const guide = guides.find((one) => one.name === name);
    if (guide === undefined) throw new Error(`there is no ${name}`);
    expect(
      groupsOf(guide)
        .flat()
        .every(({ use, language }) => use !== 'run' || language === 'sh'),
    ).toBe(true);
    expect(await follow(guide, 'terminal', world)).toEqual([]);
  },
  60_000,
);

test('every table that the code gives stands on a page, and pages begin with a promise and end with the next step', () =>
  expectWholePages(site, names));

test('the type of every error leads to its own place', async () => {
  const { type } = (await (await fetch(`${service.url}/api/me`)).json()) as { type: string };
  const html = await (await fetch(type)).text();
  for (const code of errors.codes) {
    const place = new RegExp(`<h3 id="${code}">[\\s\\S]*?(?=<h[23] |</article>)`).exec(html)?.[0] ?? '';
    expect([code, /Retryable: <strong>(yes|no)/.test(place)]).toEqual([code, true]);
  }
});
