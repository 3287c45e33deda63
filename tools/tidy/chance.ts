/*
 * Where a file makes time or chance for itself. It is looked for in the whole text, since an import may go over several lines, and what a
 * module gives as a whole or by default has the name that the file gives it. A parameter may have any of these names.
 */

const CLOCK = /\bDate\.now\(\)|\bnew Date\(\)/;
const MAKES_CHANCE = 'random(?:UUID|Bytes|Int|Fill|FillSync)|getRandomValues';
const MODULE = `['"](?:node:)?crypto['"]`;
/** The platform's own, and imports by name. */
const CHANCE = new RegExp(
  [
    String.raw`\bMath\s*\.\s*random\b`,
    String.raw`\bcrypto\s*\.\s*(?:${MAKES_CHANCE})\b`,
    String.raw`\{[^{}]*\b(?:${MAKES_CHANCE})\b[^{}]*\}\s*=\s*(?:globalThis\s*\.\s*)?crypto\b`,
    String.raw`\b(?:import|export) (?:\w+, )?\{[^{}]*\b(?:${MAKES_CHANCE}|webcrypto)\b[^{}]*\} from ${MODULE}`,
    String.raw`\bimport\(\s*${MODULE}\s*\)`,
  ].join('|'),
);
const WHOLE_MODULE = new RegExp(String.raw`\bimport (?:\* as )?(\w+)(?:, \{[^{}]*\})? from ${MODULE}`, 'g');

/** What makes time or chance in a file with this text. */
export function timeOrChanceIn(text: string): RegExp {
  const patterns = [CLOCK, CHANCE].map(({ source }) => source);
  for (const [, name] of text.matchAll(WHOLE_MODULE))
    patterns.push(String.raw`\b${name}\s*\.\s*(?:${MAKES_CHANCE}|webcrypto)\b`);
  return new RegExp(patterns.join('|'));
}
