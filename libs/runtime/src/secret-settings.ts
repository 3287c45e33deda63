import { type SettingReader, splitList } from './setting-reader.ts';

/** As many as are told apart at every opening. */
const KEYS_MAX = 16;

export function readKeys({ bytes = 32 }: { bytes?: number }): SettingReader<readonly Buffer[]> {
  return (text) => {
    const entries = splitList(text);
    const keys = entries.map((entry) => Buffer.from(entry, 'base64'));
    const bad = entries.findIndex(
      (entry, index) => !/^[A-Za-z0-9+/_-]+={0,2}$/.test(entry) || keys[index]?.length !== bytes,
    );
    if (bad !== -1 || keys.length === 0) {
      const which = entries.length > 1 ? ` (entry ${bad + 1} is not)` : '';
      return new Error(`must be ${bytes} bytes in base64, or a comma list of such keys${which}`);
    }
    if (keys.length > KEYS_MAX) return new Error(`must not list more than ${KEYS_MAX} keys`);
    const again = keys.findIndex((key, index) => keys.findIndex((other) => other.equals(key)) < index);
    if (again !== -1) return new Error(`lists a key twice (entry ${again + 1} stands before already)`);
    return Object.freeze(keys);
  };
}

export type NamedToken = { readonly name: string; readonly token: string };

export function readNamedTokens(): SettingReader<readonly NamedToken[]> {
  return (text) => {
    const tokens: NamedToken[] = [];
    for (const [index, entry] of splitList(text).entries()) {
      const [, name, token] = /^([A-Za-z0-9_.-]{1,64}):([!-~]{16,512})$/.exec(entry) ?? [];
      if (name === undefined || token === undefined) {
        return new Error(
          `must be a comma list of name:token, tokens of 16 or more characters (entry ${index + 1} is not)`,
        );
      }
      if (tokens.some((other) => other.name === name)) return new Error(`names "${name}" twice`);
      tokens.push(Object.freeze({ name, token }));
    }
    return Object.freeze(tokens);
  };
}

/** What can be compared with the header of a request, and cannot be guessed. */
export function readBearer({ minLength = 16 }: { minLength?: number }): SettingReader<string> {
  return (text) =>
    /^[!-~]{1,4096}$/.test(text) && text.length >= minLength
      ? text
      : new Error(`must be ${minLength} or more printable characters without spaces`);
}
