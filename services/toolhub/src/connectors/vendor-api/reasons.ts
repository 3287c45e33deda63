import { isFields, textOrNull } from './shape.ts';

/** A refusal may name thousands of faults; a few are enough to mend it. */
const FAULTS_MAX = 3;
const NESTING_MAX = 8;
const NODES_MAX = 200;

/** What a vendor says in general, and behind it what is wrong in particular: the first alone helps nobody to mend it. */
export function withParticulars(general: unknown, particulars: readonly unknown[]): string | null {
  const first = textOrNull(general);
  const news = particulars
    .filter((one): one is string => typeof one === 'string' && one !== '' && one !== first)
    .slice(0, FAULTS_MAX);
  return [first, [...new Set(news)].join('; ')].filter((part) => part).join(': ') || null;
}

/** The lists under this name in a tree of fields, each with the path that leads to it. */
export function listsIn(tree: unknown, name: string): { path: string; list: readonly unknown[] }[] {
  const found: { path: string; list: readonly unknown[] }[] = [];
  const waiting = [{ node: tree, path: [] as string[] }];
  for (let visited = 0; visited < NODES_MAX && found.length < FAULTS_MAX; visited += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    const { node, path } = next;
    if (!isFields(node) || path.length > NESTING_MAX) continue;
    for (const [field, value] of Object.entries(node).slice(0, NODES_MAX))
      if (field !== name) waiting.push({ node: value, path: [...path, field] });
      else if (Array.isArray(value)) found.push({ path: path.join('.'), list: value });
  }
  return found;
}
