/*
 * A statement that is prepared keeps the columns of its result: once a migration adds one to a table whose `*` it answers,
 * the version before, which runs on beside it, is refused with every call ("cached plan must not change result type").
 */

const SPACE = /--[^\n]*|\s+/g;
const QUOTED = /'(?:[^']|'')*'/g;
/** What is put into a text from elsewhere is looked at where it stands. */
const ELSEWHERE = 'elsewhere';
const COMMENT_OR_TEXT = /^(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/|'((?:\\.|[^'\\\n])*)'|"(?:\\.|[^"\\\n])*")/;
/** No comment is longer. */
const PIECE_MAX = 5_000;

/** The texts that a source file quotes, those within others too. */
export function textsOf(source: string): string[] {
  const texts: string[] = [];
  /** Reads up to the closing backtick, and answers where reading goes on. */
  function readText(from: number): number {
    let text = '';
    let at = from;
    while (at < source.length && source[at] !== '`') {
      if (source.startsWith('${', at)) {
        at = readCode(at + 2);
        text += ` ${ELSEWHERE} `;
      } else {
        const length = source[at] === '\\' ? 2 : 1;
        text += source.slice(at, at + length);
        at += length;
      }
    }
    texts.push(text);
    return at + 1;
  }
  function readCode(from: number): number {
    let depth = 1;
    let at = from;
    while (at < source.length && depth > 0) {
      const passed = COMMENT_OR_TEXT.exec(source.slice(at, at + PIECE_MAX));
      if (passed !== null) {
        at += passed[0].length;
        if (passed[1] !== undefined) texts.push(passed[1]);
      } else if (source[at] === '`') at = readText(at + 1);
      else {
        if (source[at] === '{') depth += 1;
        if (source[at] === '}') depth -= 1;
        at += 1;
      }
    }
    return at;
  }
  for (let at = 0; at < source.length; ) at = readCode(at);
  return texts;
}

/** A text with a mark for each of its brackets, and what stands in them. */
interface Opened {
  top: string;
  inner: string[];
}

function open(sql: string): Opened {
  const inner: string[] = [];
  let top = '';
  let depth = 0;
  for (const letter of sql) {
    if (letter === ')') depth -= 1;
    if (depth > 0) inner[inner.length - 1] += letter;
    else if (letter !== '(' && letter !== ')') top += letter;
    if (letter === '(') {
      depth += 1;
      if (depth === 1) top += ` #${inner.push('') - 1}# `;
    }
  }
  return { top: top.replace(SPACE, ' '), inner };
}

const LIST_END =
  /\b(?:where|group by|order by|limit|for|window|having|on conflict|union|except|intersect|returning)\b/i;
const HAS_STAR = /(?:^|,) ?(?:\w+\.)?\*/;
const JOIN = /,|\b(?:(?:cross|inner|natural|(?:left|right|full)(?: outer)?) )?join\b/i;

/** The tables whose `*` is part of what a statement answers. */
export function starredTables(sql: string, outer: ReadonlyMap<string, string> = new Map()): string[] {
  const { top, inner } = open(sql.replace(QUOTED, "''"));
  const named = new Map(outer);
  for (const [, name, number] of top.matchAll(
    /(\w+) as (?:not )?(?:materialized )?#(\d+)#(?= ?,| ?select| ?insert| ?update| ?delete)/gi,
  ))
    if (name !== undefined) named.set(name, inner[Number(number)] ?? '');
  const main = top.replace(/^ ?with .*?(?=\b(?:select|insert|update|delete)\b)/i, '').trim();
  const whole = /^#(\d+)#/.exec(main);
  if (whole !== null) return starredTables(inner[Number(whole[1])] ?? '', named);
  const returned = /\breturning (.*)$/i.exec(main)?.[1];
  if (returned !== undefined) return HAS_STAR.test(returned) ? ['what it changes'] : [];
  if (!/^select\b/i.test(main)) return [];
  return main
    .split(/\b(?:union all|union|except|intersect)\b/i)
    .flatMap((select) => starsOfSelect(select, inner, named));
}

function starsOfSelect(select: string, inner: string[], named: ReadonlyMap<string, string>): string[] {
  const [, list = '', rest = ''] = /select (.*?) from (.*)$/i.exec(select) ?? [];
  const stars = [...list.matchAll(/(?:^|, ?)(?:(\w+)\.)?\*/g)].map(([, alias]) => alias);
  const sources = (rest.split(LIST_END)[0] ?? '').split(JOIN).map((source) => readSource(source));
  return stars.flatMap((alias) =>
    sources
      .filter((source) => alias === undefined || source.alias === alias)
      .flatMap(({ name, number }) => {
        if (number !== undefined) return name === '' ? starredTables(inner[number] ?? '', named) : [];
        const known = named.get(name);
        if (known !== undefined)
          return starredTables(known, new Map([...named].filter(([other]) => other !== name)));
        return name === ELSEWHERE || name === '' ? [] : [name];
      }),
  );
}

/** `name alias`, `(select …) as alias` or `function(…) as alias (columns)`. */
function readSource(source: string) {
  const [, name = '', number, alias] =
    /^ ?(?:lateral )?(?:only )?([\w.]*) ?(?:#(\d+)#)? ?(?:as )?(?!on\b|using\b)(\w+)?/i.exec(source) ?? [];
  return { name, number: number === undefined ? undefined : Number(number), alias: alias ?? name };
}
