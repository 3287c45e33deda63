/** Reads one variable: the value, or an Error whose message completes "NAME …". */
export type SettingReader<T> = (text: string) => T | Error;

export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
