import type { Context } from 'oidc-provider';
import { expect, test } from 'vitest';
import { checkResource, isResource } from './provider.ts';

const PUBLIC = 'https://hub.example';

test('[TH-4.13] our resource has two spellings and any query, and nothing else is it', () => {
  for (const text of ['/mcp', '/mcp/', '/mcp?platforms=slack'])
    expect(isResource(PUBLIC + text, PUBLIC)).toBe(true);
  for (const text of [
    ...[
      'https://hub.example',
      'https://hub.example/',
      'https://hub.example/mcpx',
      'https://hub.example/mcp/x',
    ],
    ...[
      'https://hub.example/a/mcp',
      'https://hub.example/MCP',
      'https://hub.example/mcp#x',
      'http://hub.example/mcp',
    ],
    ...[
      'https://hub.example:8443/mcp',
      'https://me@hub.example/mcp',
      'https://:x@hub.example/mcp',
      '/mcp',
      '',
    ],
    ...['https://hub.example.evil.example/mcp', 'https://evil.example/mcp'],
  ])
    expect(isResource(text, PUBLIC), text).toBe(false);
});

test('[TH-4.13] one resource of several that is not ours is refused; ours becomes one spelling', () => {
  const contextOf = (resource: unknown) => ({ oidc: { params: { resource } } }) as unknown as Context;
  for (const resource of [`${PUBLIC}/x`, [`${PUBLIC}/mcp`, `${PUBLIC}/x`], [`${PUBLIC}/x`, `${PUBLIC}/mcp`]])
    expect(() => checkResource(contextOf(resource), PUBLIC)).toThrow('invalid_target');
  for (const resource of [`${PUBLIC}/mcp/`, [`${PUBLIC}/mcp/`, `${PUBLIC}/mcp`]]) {
    const context = contextOf(resource);
    checkResource(context, PUBLIC);
    expect(context.oidc?.params?.resource).toBe(`${PUBLIC}/mcp`);
  }
});
