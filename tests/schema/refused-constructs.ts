/** What Citus 13 refused, or answered wrongly, when it was tried, by a pattern that finds it in the text of a store, and what to write instead. */
export const REFUSED_CONSTRUCTS: Readonly<Record<string, { pattern: RegExp; instead: string }>> = {
  'moment of the clock': {
    pattern: /\bclock_timestamp\(\)/gi,
    instead: 'take statement_timestamp(), or pass the time in',
  },
  'place of a row': {
    pattern: /\bwhere\s+(?:\w+\.)?ctid\b/gi,
    instead: 'join by the key',
  },
  recursion: {
    pattern: /\bwith recursive\b/gi,
    instead: 'keep that table managed local, or read it in pages',
  },
  'lateral with a limit': {
    // A lateral part up to its closing bracket, with three levels of brackets within it.
    pattern: /\blateral\s*\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*?\blimit\b/gi,
    instead: 'one tenant for each statement, or a common table expression and a left join',
  },
  'void in a select list': {
    pattern: /\bselect\s+pg_notify\([^)]*\)\s+from\b/gi,
    instead: 'cast it to text, or call it for itself',
  },
  'lock over many tenants': {
    pattern:
      /\bunnest\((?:[^()]|\([^()]*\))*\)(?:(?!;|`)[\s\S]){0,400}?\bfor (?:update|share|no key update|key share)\b/gi,
    instead: 'name the tenant (tenant_id = $1), one tenant for each statement',
  },
  'interval and a moment of the row': {
    // Refused in an update, since such a sum depends on the time zone; a moment of the clock is reckoned before the row is known.
    pattern: /(?:(?<!_timestamp\()\)|\bset\s+\w+\s*=\s*\w+)\s*[-+]\s*(?:\$\d+\s*\*\s*)?interval\b/gi,
    instead: "reckon in UTC: (moment at time zone 'UTC' - interval '…') at time zone 'UTC'",
  },
  'rows without columns': {
    pattern: /\bfrom\s*\(\s*select\s+from\b/gi,
    instead: 'select 1',
  },
  'count of an insert that selects': {
    // Rows that were in the way are counted, too, where what is inserted passes through the first server.
    pattern:
      /\browCount\b[^`;]{0,200}`\s*insert into(?:(?!`|\breturning\b)[\s\S])*?\bselect\b(?:(?!`|\breturning\b)[\s\S])*?\bon conflict\b(?:(?!`|\breturning\b)[\s\S])*`/gi,
    instead: 'returning, and the number of rows that came back',
  },
};

export function countConstructs(text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [construct, { pattern }] of Object.entries(REFUSED_CONSTRUCTS)) {
    const count = [...text.matchAll(pattern)].length;
    if (count > 0) counts[construct] = count;
  }
  return counts;
}
