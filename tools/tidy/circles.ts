import type { Codebase } from './codebase.ts';

/** Groups of files that lead back to themselves, each as one shortest way around, types included. */
export function findCircles(codebase: Codebase): string[][] {
  const known = new Set(codebase.files.map(({ path }) => path));
  const next = (path: string) =>
    codebase
      .importsOf(path)
      .map(({ target }) => target)
      .filter((target) => known.has(target));
  return knots([...known], next).map((knot) => shortestWayAround(knot, next));
}

/** Tarjan's strongly connected components that have more than one member, or one that imports itself. */
function knots(paths: readonly string[], next: (path: string) => string[]): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (path: string): void => {
    const own = order.size;
    order.set(path, own);
    lowest.set(path, own);
    open.push(path);
    for (const target of next(path)) {
      if (!order.has(target)) visit(target);
      if (open.includes(target))
        lowest.set(path, Math.min(lowest.get(path) as number, lowest.get(target) as number));
    }
    if (lowest.get(path) !== own) return;
    const knot = open.splice(open.indexOf(path));
    if (knot.length > 1 || next(path).includes(path)) found.push(knot);
  };
  for (const path of paths) if (!order.has(path)) visit(path);
  return found;
}

function shortestWayAround(knot: readonly string[], next: (path: string) => string[]): string[] {
  const start = [...knot].sort()[0] as string;
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const target of next(way.at(-1) as string)) {
      if (target === start) return [...way, start];
      if (seen.has(target) || !knot.includes(target)) continue;
      seen.add(target);
      ways.push([...way, target]);
    }
  }
  return [...knot];
}
