import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), 'utf8');

/** The names of the alerts, by group. */
export function alertsByGroup(): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  let group = '';
  for (const line of file('prometheus/alerts.yml').split('\n')) {
    group = /^ {2}- name: (\w+)$/.exec(line)?.[1] ?? group;
    const alert = /^ {6}- alert: (\w+)$/.exec(line)?.[1];
    if (alert !== undefined) groups[group] = [...(groups[group] ?? []), alert];
  }
  return groups;
}

interface Panel {
  targets?: { expr: string }[];
}

const WORDS_OF_THE_LANGUAGE =
  /^(sum|max|min|avg|by|rate|increase|histogram_quantile|unless|or|and|on|ignoring|without|le|up)$/;

/** The metrics that the rules and the dashboard speak of, without the endings of histograms. */
export function metricsNamed(): string[] {
  const rules = [...file('prometheus/alerts.yml').matchAll(/expr:(?: \|\n((?: {10}.*\n)+)| (.*)\n)/g)];
  const dashboard = JSON.parse(file('grafana/dashboard.json')) as { panels: Panel[] };
  const expressions = [
    ...rules.map(([, block, line]) => block ?? line ?? ''),
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ];
  const names = expressions.flatMap((expression) =>
    // What stands in braces, in brackets or behind `by` are labels and times.
    (
      expression
        .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '')
        .replaceAll(/\bby \([^)]*\)/g, '')
        .match(/[a-z_][a-z0-9_]*/g) ?? []
    ).filter((word) => !WORDS_OF_THE_LANGUAGE.test(word) && word !== 'e9'),
  );
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')))].toSorted();
}
