import type { OAuthProvider } from '../connectors/connector.ts';

/**
 * What a login asks for: no more than the tools need that the customer has switched on. Where none of them is, it is what
 * all of them need, because some vendors refuse a login that asks for nothing.
 */
export function scopesToAsk(
  { scopes, toolScopes = {} }: Pick<OAuthProvider, 'scopes' | 'toolScopes'>,
  isOn: (tool: string) => boolean,
): string[] {
  const tools = Object.keys(toolScopes);
  const wanted = tools.some(isOn) ? tools.filter(isOn) : tools;
  return [...new Set([...scopes, ...wanted.flatMap((tool) => toolScopes[tool] ?? [])])];
}
