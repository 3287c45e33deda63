// Whether what a block printed is what the guide shows. Ids, times and secrets may be any; `…` stands for anything.

const ANYTHING = '…';

const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
  [/http:\/\/(?:localhost|127\.0\.0\.1):\d+/g, '<server>'],
  [/\breq_[\w-]+/g, '<req>'],
  [/\bwhsec_[A-Za-z0-9+/=]+/g, '<secret>'],
  [/\bsk_(test|live)_[0-9A-Za-z]{43}\b/g, '<key>'],
  [/\b([a-z]{2,4})_[0-9A-Za-z]{20,}\b/g, '<$1>'],
];

const steady = (text: string): string =>
  CHANGING.reduce((changed, [pattern, name]) => changed.replaceAll(pattern, name), text);

const literally = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A text with `…` in it, as a pattern. */
function fitsText(shown: string, got: string): boolean {
  const pattern = steady(shown).split(ANYTHING).map(literally).join('[\\s\\S]*?');
  return new RegExp(`^${pattern}$`).test(steady(got));
}

/** In shown JSON a bare `…` says that an object or a list has more than is shown. */
function readShownJson(text: string): unknown {
  const open: string[] = [];
  const json = text.replaceAll(/"(?:\\.|[^"\\])*"|[{[\]}…]/g, (token) => {
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
    if (token !== ANYTHING) return token;
    return open.at(-1) === '{' ? `"${ANYTHING}": "${ANYTHING}"` : `"${ANYTHING}"`;
  });
  return JSON.parse(json);
}

function fitsValue(shown: unknown, got: unknown): boolean {
  if (shown === ANYTHING) return true;
  if (typeof shown === 'string') return typeof got === 'string' && fitsText(shown, got);
  if (Array.isArray(shown)) {
    if (!Array.isArray(got)) return false;
    const isOpen = shown.at(-1) === ANYTHING;
    const named = isOpen ? shown.slice(0, -1) : shown;
    return (isOpen || got.length === named.length) && named.every((item, at) => fitsValue(item, got[at]));
  }
  if (typeof shown !== 'object' || shown === null) return shown === got;
  if (typeof got !== 'object' || got === null) return false;
  const { [ANYTHING]: open, ...named } = shown as Record<string, unknown>;
  const values = got as Record<string, unknown>;
  const isWhole = open !== undefined || Object.keys(values).every((key) => key in named);
  return (
    isWhole && Object.entries(named).every(([key, value]) => key in values && fitsValue(value, values[key]))
  );
}

/** What does not fit, or undefined. */
export function difference(shown: { language: string; text: string }, got: string): string | undefined {
  const said = (text: string) => `shown:\n${shown.text}\n\ngot:\n${text}`;
  if (shown.language !== 'json') return fitsText(shown.text.trim(), got.trim()) ? undefined : said(got);
  try {
    const value: unknown = JSON.parse(got);
    return fitsValue(readShownJson(shown.text), value) ? undefined : said(JSON.stringify(value, null, 2));
  } catch (error) {
    return `${String(error)}\n${said(got)}`;
  }
}
