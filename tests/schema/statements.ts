import type { Migration } from '@libs/db';

/** Comments, quoted text, bodies of functions and whatever stands in brackets: none of it separates commands. */
const INNER = /--[^\n]*|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$/g;

function withoutBrackets(sql: string): string {
  let before = sql;
  for (;;) {
    const after = before.replace(/\([^()]*\)/g, ' ');
    if (after === before) return after;
    before = after;
  }
}

/** A database that is spread over servers takes one change for each ALTER TABLE only. */
export function findBundledAlters({
  series,
  number,
  name,
  sql,
}: Pick<Migration, 'series' | 'number' | 'name' | 'sql'>): string[] {
  return withoutBrackets(sql.replace(INNER, ' '))
    .split(';')
    .map((statement) => statement.trim().replace(/\s+/g, ' '))
    .filter((statement) => /^alter table /i.test(statement) && statement.includes(','))
    .map(
      (statement) =>
        `${series} ${number} ${name}: one change for each ALTER TABLE (${statement.slice(0, 40)}…)`,
    );
}
