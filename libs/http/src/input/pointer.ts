/*
 * Faults name their places by JSON pointers (RFC 6901). The keys in them are a stranger's: one may have megabytes, a
 * fault below it names it anew, and an answer repeats its faults. So each key is cut where a pointer is made, and nowhere else.
 */

/** What is shown of one key; no field of ours has a name that is nearly so long. */
const KEY_LENGTH_SHOWN_MAX = 128;
/** Keys that are short may still lie in each other: behind so many characters only the mark follows. */
const POINTER_LENGTH_MAX = 256;
const CUT = '…';

/** Whether a pointer shows only a part of it; places below such a key cannot be told apart. */
export function isLongKey(key: string): boolean {
  return key.length > KEY_LENGTH_SHOWN_MAX;
}

/** A key, or the name of a parameter, as an answer may repeat it. */
export function shownKey(key: string): string {
  if (!isLongKey(key)) return key;
  const isAmidPair = isHighSurrogate(key.charCodeAt(KEY_LENGTH_SHOWN_MAX - 1));
  return key.slice(0, isAmidPair ? KEY_LENGTH_SHOWN_MAX - 1 : KEY_LENGTH_SHOWN_MAX) + CUT;
}

/** The place of a member or an item below another place. */
export function pointerTo(parent: string, key: string | number): string {
  if (parent.length > POINTER_LENGTH_MAX) return parent.endsWith(MORE) ? parent : parent + MORE;
  return `${parent}/${typeof key === 'number' ? key : escapeKey(shownKey(key))}`;
}

const MORE = `/${CUT}`;

/** A pointer that another library made, cut as ours are. */
export function cutPointer(pointer: string): string {
  return keysOf(pointer).reduce<string>(pointerTo, '');
}

export function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function escapeKey(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit <= 0xdbff;
}
