// The README of a platform is what people rely on: every tool is in it with its class, every scope that is asked for, and
// the address of the API.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createConnectors } from '../../services/toolhub/src/connectors/index.ts';

const folder = new URL('../../services/toolhub/src/connectors/', import.meta.url);

describe.each(createConnectors().map((connector) => [connector.id, connector] as const))(
  'the fact sheet of %s',
  (id, connector) => {
    const readme = readFileSync(new URL(`${id}/README.md`, folder), 'utf8');

    it('names every tool with its class, and no other', () => {
      const rows = [...readme.matchAll(/^\| `([a-z_]+)` +\| ([RWIUD]) /gm)].map(([, name, kind]) => [
        name,
        kind,
      ]);
      expect(rows.toSorted()).toEqual(connector.tools.map((tool) => [tool.name, tool.class]).toSorted());
    });

    it('names the address of the API, and what is not possible', () => {
      if (connector.apiUrl !== undefined) expect(readme).toContain(connector.apiUrl);
      expect(readme).toMatch(/not possible|cannot/i);
    });

    it('names the scopes that a login asks for', () => {
      // A mail service is asked for one scope that opens everything; email/providers.ts has it.
      if (id === 'email') return;
      for (const { scopes, toolScopes = {} } of connector.auth.providers ?? [])
        for (const scope of [...scopes, ...Object.values(toolScopes).flat()])
          expect(readme).toContain(`\`${scope}\``);
    });

    it('has the scopes of every tool for a login, in its row or asked for always', () => {
      for (const { scopes, toolScopes } of connector.auth.providers ?? []) {
        if (toolScopes === undefined) continue;
        expect(Object.keys(toolScopes).sort()).toEqual(connector.tools.map(({ name }) => name).sort());
        for (const [tool, own] of Object.entries(toolScopes)) {
          const row = readme.split('\n').find((line) => line.startsWith(`| \`${tool}\``)) ?? '';
          const other = /as `([a-z_]+)`/.exec(row)?.[1];
          const said = `${row}${readme.split('\n').find((line) => line.startsWith(`| \`${other}\``)) ?? ''}`;
          for (const scope of own.filter((one) => !scopes.includes(one)))
            expect(said, `${tool} needs ${scope}`).toContain(`\`${scope}\``);
        }
      }
    });
  },
);
