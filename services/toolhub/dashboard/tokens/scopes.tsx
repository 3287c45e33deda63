import { texts } from '../texts.ts';

const words: Readonly<Record<string, string>> = texts.scopes;

/** What somebody may do, in words; to call all tools says that those which only read are among them. */
export function scopeWords(scopes: readonly string[]): string {
  const said = scopes.filter(
    (scope) =>
      !(scope === 'tools:read' && scopes.includes('tools:write')) &&
      !(scope === 'account:read' && scopes.includes('account:write')),
  );
  const text = said.map((scope) => words[scope] ?? scope).join('; ');
  return `${text.slice(0, 1)}${text.slice(1).toLowerCase()}`;
}
