import { posix } from 'node:path';

export interface SourceFile {
  /** Relative to the root, with slashes. */
  path: string;
  text: string;
}

export interface Import {
  /** The file it leads to, or the name of a package from outside. */
  target: string;
  line: number;
  typeOnly: boolean;
  /** `export … from`: what is taken there is given on. */
  givenOn: boolean;
}

/** Every source file with where its imports lead, types included. */
export interface Codebase {
  files: readonly SourceFile[];
  importsOf(path: string): readonly Import[];
}

/** What a package of this repository calls its files: `@libs/db/testing` to `libs/db/src/testing.ts`. */
export type PackageEntries = ReadonlyMap<string, string>;

/** One broken rule of the house, in words that say how to mend it. */
export interface Fault {
  file: string;
  line: number;
  message: string;
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"]*?from\s+['"]([^'"]+)['"]|import\s*\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)import\s+['"]([^'"]+)['"]/g;

function readImports({ path, text }: SourceFile, entries: PackageEntries): Import[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const named = (match[1] ?? match[2] ?? match[3]) as string;
    const lead = match[0].length - match[0].trimStart().length;
    const relative = named.startsWith('.') ? posix.normalize(posix.join(posix.dirname(path), named)) : named;
    return {
      target: entries.get(relative) ?? relative,
      line: text.slice(0, match.index + lead).split('\n').length,
      typeOnly:
        match[2] === undefined ? /^\s*(?:import|export)\s+type\b/.test(match[0]) : isType(match, text),
      givenOn: /^\s*export\b/.test(match[0]),
    };
  });
}

/** `import('…').Name` in a type is no import of a value, while `await import('…')` is one. */
function isType(match: RegExpExecArray, text: string): boolean {
  return !/await\s+$/.test(text.slice(0, match.index));
}

export function readCodebase(files: readonly SourceFile[], entries: PackageEntries = new Map()): Codebase {
  const imports = new Map(files.map((file) => [file.path, readImports(file, entries)]));
  return { files, importsOf: (path) => imports.get(path) ?? [] };
}

/** All files that a file leads to, itself included. */
export function reachedFrom(codebase: Codebase, path: string): Set<string> {
  const reached = new Set([path]);
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { target, typeOnly } of codebase.importsOf(next)) {
      if (typeOnly || reached.has(target)) continue;
      reached.add(target);
      waiting.push(target);
    }
  }
  return reached;
}

export const isTestFile = (path: string) => /\.test\.tsx?$/.test(path);
/** Tests, the rigs they use, and benchmarks: they may look into everything. */
export const isTest = (path: string) => isTestFile(path) || /(\/test\/|^tests\/|^bench\/)/.test(path);
export const serviceOf = (path: string) => /^services\/([^/]+)\//.exec(path)?.[1];
/** A folder below `src/` is a feature; what lies directly in `src/` and in `parts/` puts features together. */
export const featureOf = (path: string) => /^services\/([^/]+\/src\/(?!parts\/)[^/]+)\//.exec(path)?.[1];
export const isRoutes = (path: string) => /\/([\w-]+-)?routes\.ts$/.test(path);
export const isStore = (path: string) => /\/([\w-]+-)?store\.ts$/.test(path);

/** Over the whole text, since what is looked for may go over several lines; a fault is where it begins. */
export function linesWith(file: SourceFile, pattern: RegExp, message: string): Fault[] {
  const found = file.text.matchAll(new RegExp(pattern.source, `${pattern.flags}g`));
  const lines = new Set([...found].map(({ index }) => file.text.slice(0, index).split('\n').length));
  return [...lines].map((line) => ({ file: file.path, line, message }));
}
