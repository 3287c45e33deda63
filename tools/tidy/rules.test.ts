// Each rule of the house finds an example that was planted for it, and lets pass what is allowed.
import { describe, expect, test } from 'vitest';
import { readCodebase } from './codebase.ts';
import { rules } from './rules.ts';

type Planted = Record<string, string>;

const entries = new Map([
  ['@libs/db/testing', 'libs/db/src/testing.ts'],
  ['@libs/http', 'libs/http/src/index.ts'],
]);

function faultsIn(planted: Planted): { rule: string; message: string }[] {
  const codebase = readCodebase(
    Object.entries(planted).map(([path, text]) => ({ path, text })),
    entries,
  );
  return rules.flatMap(({ says, check }) => check(codebase).map(({ message }) => ({ rule: says, message })));
}

const src = 'services/payments/src';

const cases: [name: string, planted: Planted, message: RegExp][] = [
  [
    'two migrations with one number',
    {
      'services/payments/migrations/0001_a.sql': '',
      'services/payments/migrations/0002_b.sql': '',
      'services/payments/migrations/0002_c.sql': '',
    },
    /its number must be 3/,
  ],
  [
    'a gap between migrations',
    { 'libs/jobs/migrations/0001_a.sql': '', 'libs/jobs/migrations/0003_b.sql': '' },
    /its number must be 2/,
  ],
  [
    'service to service',
    { [`${src}/a.ts`]: `import { x } from '../../toolhub/src/b.ts';` },
    /no other service/,
  ],
  [
    'library to service',
    { 'libs/db/src/a.ts': `import type { X } from '@services/payments';` },
    /no service/,
  ],
  [
    'a circle of three, one of them by a type alone',
    {
      [`${src}/a/one.ts`]: `import { two } from './two.ts';`,
      [`${src}/a/two.ts`]: `import type { Three } from './three.ts';`,
      [`${src}/a/three.ts`]: `export { one } from './one.ts';`,
    },
    /one\.ts → .*two\.ts → .*three\.ts → .*one\.ts/,
  ],
  [
    'a circle through the type of an import',
    { 'libs/db/src/a.ts': `import './b.ts';`, 'libs/db/src/b.ts': `type A = import('./a.ts').A;` },
    /a circle/,
  ],
  ['the driver outside libs/db', { [`${src}/a/store.ts`]: `import pg from 'pg';` }, /only libs\/db/],
  ['SQL outside a store', { [`${src}/a/service.ts`]: 'const q = `select id from t`;' }, /belongs in a store/],
  [
    'SQL outside a store that begins on a line of its own',
    { [`${src}/a/service.ts`]: 'const q = `\n  select id from t`;' },
    /belongs in a store/,
  ],
  [
    "another feature's store",
    { [`${src}/a/service.ts`]: `import { find } from '../b/store.ts';` },
    /store is private/,
  ],
  [
    "the types of another feature's store",
    { [`${src}/a/service.ts`]: `import type { Row } from '../b/keys-store.ts';` },
    /store is private/,
  ],
  [
    "another feature's routes",
    { [`${src}/a/pages.ts`]: `import { Schema } from '../b/own-routes.ts';` },
    /a file of its own/,
  ],
  [
    'a service that imports routes',
    { [`${src}/a/service.ts`]: `import { Schema } from './routes.ts';` },
    /data goes one way/,
  ],
  [
    'a store that imports its service',
    { [`${src}/a/store.ts`]: `import type { Thing } from './service.ts';` },
    /data goes one way/,
  ],
  [
    'a store given on',
    { [`${src}/a/service.ts`]: `export { find } from './store.ts';` },
    /a store is private: types belong/,
  ],
  [
    'the types of a store given on',
    { [`${src}/a/service.ts`]: `export type { Row } from './store.ts';` },
    /a store is private: types belong/,
  ],
  ['the environment', { [`${src}/a/service.ts`]: 'const x = process.env.X;' }, /config\.ts/],
  ['HTTP in a service', { [`${src}/a/service.ts`]: `import fastify from 'fastify';` }, /no HTTP/],
  [
    'our HTTP library in a store',
    { [`${src}/a/store.ts`]: `import { problem } from '@libs/http';` },
    /no HTTP/,
  ],
  ['the wall clock', { [`${src}/a/states.ts`]: 'const at = new Date();' }, /are parameters/],
  ['chance', { [`${src}/a/states.ts`]: 'const n = Math.random();' }, /are parameters/],
  [
    'random ids',
    { [`${src}/a/service.ts`]: `import { createHash, randomUUID } from 'node:crypto';` },
    /are parameters/,
  ],
  [
    'random bytes',
    { [`${src}/a/service.ts`]: `import { randomBytes } from 'node:crypto';` },
    /are parameters/,
  ],
  ['random ids of the platform', { [`${src}/a/a.ts`]: 'const id = crypto.randomUUID();' }, /are parameters/],
  [
    'random bytes by an import over several lines',
    { [`${src}/a/a.ts`]: `import {\n  createHash,\n  randomBytes,\n} from 'node:crypto';` },
    /are parameters/,
  ],
  [
    'random bytes of all that a module has',
    { [`${src}/a/a.ts`]: `import * as c from 'node:crypto';\nconst bytes = c.randomBytes(4);` },
    /are parameters/,
  ],
  [
    'random bytes of what a module gives by default',
    {
      [`${src}/a/a.ts`]: `import own, { hash } from 'node:crypto';\nconst bytes = own\n  .randomFillSync(room);`,
    },
    /are parameters/,
  ],
  [
    'random bytes of a module that is loaded later',
    { [`${src}/a/a.ts`]: `const { randomInt } = await import('node:crypto');` },
    /are parameters/,
  ],
  [
    'random values',
    { [`${src}/a/a.ts`]: `import { getRandomValues } from 'node:crypto';` },
    /are parameters/,
  ],
  [
    'random values of the platform',
    { [`${src}/a/a.ts`]: 'const { getRandomValues } = globalThis.crypto;' },
    /are parameters/,
  ],
  [
    'what the platform has, by way of the module',
    { [`${src}/a/a.ts`]: `import { webcrypto } from 'crypto';` },
    /are parameters/,
  ],
  ['chance by its name', { [`${src}/a/a.ts`]: 'const random = Math.random;' }, /are parameters/],
  [
    'a service built by another feature',
    { [`${src}/a/service.ts`]: 'const keys = createKeyService({ database });' },
    /a file of parts\/ builds them/,
  ],
  [
    'a factory that takes options',
    { [`${src}/a/service.ts`]: 'export function createA(options: AOptions): A {' },
    /called …Dependencies/,
  ],
  [
    'a factory that takes them apart',
    { [`${src}/a/service.ts`]: 'export function createA({ now }: ADeps): A {' },
    /called …Dependencies/,
  ],
  [
    'a factory that takes options, over several lines',
    { [`${src}/a/service.ts`]: 'export function createA(\n  options: AOptions,\n): A {' },
    /called …Dependencies/,
  ],
  [
    'a type of two rails',
    {
      [`${src}/rails/a/one.ts`]: 'export type Reading = 1;',
      [`${src}/rails/b/two.ts`]: 'export interface Reading {',
    },
    /Reading is also a name of/,
  ],
  [
    'a name used twice',
    { [`${src}/a/a.ts`]: 'export interface Row {', [`${src}/b/b.ts`]: 'export const Row = 1;' },
    /Row is also a name of .*a\/a\.ts/,
  ],
  [
    'a database test without its name',
    { [`${src}/a/a.test.ts`]: `import { createTestDatabase } from '@libs/db/testing';` },
    /it needs Postgres/,
  ],
  [
    'a database test by way of its rig',
    {
      [`${src}/a/a.test.ts`]: `import { rig } from './test/rig.ts';`,
      [`${src}/a/test/rig.ts`]: `import { createTestDatabase } from '@libs/db/testing';`,
    },
    /it needs Postgres/,
  ],
  ['a database test that is none', { [`${src}/a/a.db.test.ts`]: '' }, /it needs no Postgres/],
  [
    'a test of one file among the rigs',
    { [`${src}/a/a.ts`]: '', [`${src}/a/test/a.test.ts`]: '' },
    /it tests .*a\/a\.ts: put it beside/,
  ],
  [
    'the same of a library',
    { 'libs/db/src/a.ts': '', 'libs/db/test/a.property.test.ts': '' },
    /it tests libs\/db\/src\/a\.ts/,
  ],
  [
    'a wait that gives up after a second',
    { 'libs/db/src/a.test.ts': `await ${'vi'}.waitFor(() => expect(seen).toBe(true));` },
    /expect\.poll/,
  ],
  ['a name that says nothing', { [`${src}/utils.ts`]: '' }, /say nothing/],
  ['a folder that says nothing', { [`${src}/common/money.ts`]: '' }, /say nothing/],
  ['a note for later', { [`${src}/a.ts`]: `// ${'TO'}DO later` }, /finish it/],
  ['a focused test', { [`${src}/a.test.ts`]: `test${'.only'}('x', () => {});` }, /finish it/],
];

describe('each rule finds what it is for', () => {
  test.each(cases)('%s', (_name, planted, message) => {
    expect(faultsIn(planted).map((fault) => fault.message)).toEqual([expect.stringMatching(message)]);
  });

  test('no rule is without an example', () => {
    const found = new Set(cases.flatMap(([, planted]) => faultsIn(planted)).map(({ rule }) => rule));
    expect(rules.map(({ says }) => says).filter((says) => !found.has(says))).toEqual([]);
  });
});

describe('what is allowed passes', () => {
  const allowed: [name: string, planted: Planted][] = [
    ['the own store', { [`${src}/a/service.ts`]: `import { find } from './store.ts';` }],
    ['prose about choosing', { [`${src}/a/service.ts`]: '// we select a rail from those that are possible' }],
    [
      'types of the HTTP library',
      { [`${src}/a/service.ts`]: `import type { RateLimit } from '@libs/http';` },
    ],
    ['a time that was given', { [`${src}/a/states.ts`]: 'const at = new Date(now);' }],
    [
      'one name in two services',
      { [`${src}/a.ts`]: 'export type Row = 1;', 'services/toolhub/src/a.ts': 'export type Row = 1;' },
    ],
    [
      'one value of two rails',
      {
        [`${src}/rails/a/rail.ts`]: 'export function createRail() {}',
        [`${src}/rails/b/rail.ts`]: 'export const createRail = 1;',
      },
    ],
    ['a test of a whole feature', { [`${src}/a/a.ts`]: '', [`${src}/a/test/flow.test.ts`]: '' }],
    ['a hash', { [`${src}/a/a.ts`]: `import { createHash } from 'node:crypto';` }],
    [
      'a hash of all that a module has, beside random bytes that are passed in',
      {
        [`${src}/a/a.ts`]: `import * as c from 'node:crypto';\nconst made = c.hash('sha256', deps.randomBytes(4));`,
      },
    ],
    ['a type of chance', { [`${src}/a/a.ts`]: `import type { randomBytes } from 'node:crypto';` }],
    ['a part that builds', { [`${src}/parts/keys.ts`]: 'const keys = createKeyService({ database });' }],
    ['options of a call', { [`${src}/a/a.ts`]: 'export function findA(options: FindOptions): A {' }],
    [
      'a rig that makes databases',
      { [`${src}/a/test/rig.ts`]: `import { createTestDatabase } from '@libs/db/testing';` },
    ],
  ];
  test.each(allowed)('%s', (_name, planted) => {
    expect(faultsIn(planted)).toEqual([]);
  });
});
