/**
 * The schemas allow any character, the banks behind them do not: what every one of them can post is
 * printable ASCII. Letters with marks lose the marks, a few letters and signs have customary spellings, and
 * what has neither (emoji, other scripts) is dropped. `&`, `<` and `>` stay: the builders escape them.
 */
export interface TextField {
  readonly lengthMax: number;
  /** What stands for a text of which nothing is left; null where the element can be left out instead. */
  readonly fallback: string | null;
}

export const TEXT_FIELDS = {
  partyName: { lengthMax: 140, fallback: 'NOTPROVIDED' },
  remittance: { lengthMax: 140, fallback: null },
  statusText: { lengthMax: 105, fallback: null },
} as const satisfies Record<string, TextField>;

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
const COMBINING_MARKS = /\p{M}+/gu;
const NOT_PRINTABLE_ASCII = /[^ -~]/gu;
const WHITE_SPACE = /[\s\p{Cc}\p{Z}]+/gu;

// Only what compatibility decomposition (NFKD) leaves as it is.
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  `Æ=AE æ=ae Œ=OE œ=oe ẞ=SS ß=ss Ø=O ø=o Ł=L ł=l Đ=D đ=d Ð=D ð=d Þ=TH þ=th Ħ=H ħ=h Ŧ=T ŧ=t ı=i ĸ=k Ŋ=N ŋ=n
   Ə=A ə=a ‘=' ’=' ‚=' ‛=' ʼ=' ′=' ´=' ‹=' ›=' “=" ”=" „=" ″=" «=" »=" ‐=- ‑=- ‒=- –=- —=- ―=- −=- ·=. •=.
   ×=x ÷=/ ⁄=/ €=EUR £=GBP ¥=JPY ¢=c ©=(c) ®=(R)`
    .split(/\s+/)
    .map((pair): [string, string] => [pair.slice(0, 1), pair.slice(2)]),
);

export function toNetworkText(text: string, field: TextField & { readonly fallback: string }): string;
export function toNetworkText(text: string, field: TextField): string | null;
export function toNetworkText(text: string, field: TextField): string | null {
  if (PLAIN.test(text)) return text.slice(0, field.lengthMax).trimEnd();
  const mapped = text
    .replace(WHITE_SPACE, ' ')
    .replace(NOT_PRINTABLE_ASCII, (character) => SPELLINGS.get(character) ?? character)
    .normalize('NFKD')
    .replace(COMBINING_MARKS, '')
    // A second time, for what decomposition has laid bare: "ǿ" becomes "ø", the ligature "ﬅ" becomes "st".
    .replace(NOT_PRINTABLE_ASCII, (character) => SPELLINGS.get(character) ?? '')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, field.lengthMax)
    .trimEnd();
  return mapped === '' ? field.fallback : mapped;
}
