// One registry: nothing in the service answers with a code from elsewhere, every code is used, and the page lists all.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registerGuides } from '@libs/docs';
import { createApp } from '@libs/http';
import { loginErrorDefinitions } from '@libs/login';
import { baseErrors } from '@libs/runtime';
import { expect, test } from 'vitest';
import type { Config } from './config.ts';
import { errors } from './errors.ts';
import { toolhubDocs } from './guides/site.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const sources = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/(^|\/)test\/|\.test\.ts$/.test(path) && path !== 'errors.ts')
  .map((path) => ({ path, text: readFileSync(join(here, path), 'utf8') }));

test('[TH-2.2] errors come from one registry', () => {
  const others = sources.filter(({ text }) => /\bdefineErrors\(|\bnew AppError\(/.test(text));
  expect(others.map(({ path }) => path)).toEqual([]);
  const used = new Set(
    sources.flatMap(({ text }) =>
      [...text.matchAll(/(?<![A-Za-z])(?:errors|baseErrors)\s*\.([a-z_]+)\(/g)].map(([, code]) => code),
    ),
  );
  const known: readonly string[] = errors.codes;
  expect([...used].filter((code) => !known.includes(code as string))).toEqual([]);
  // What all HTTP services answer, and what the login of both products does.
  const edge: readonly string[] = [...baseErrors.codes, ...Object.keys(loginErrorDefinitions)];
  expect(known.filter((code) => !used.has(code) && !edge.includes(code))).toEqual([]);
});

test('the type of every error leads to its own place on the page of errors', async () => {
  const publicUrl = 'http://localhost:4100';
  const app = await createApp({
    ...{ name: 'toolhub', version: '0', publicUrl, errors },
    ...{ logLevel: 'silent', defaultMetrics: false, openapi: { title: 'Toolhub', description: '' } },
    docs: (pages) => registerGuides(pages, toolhubDocs({ server: { publicUrl } as Config['server'] }, [])),
  });
  const page = await app.inject('/docs/errors');
  expect(page.statusCode).toBe(200);
  for (const code of errors.codes) expect(page.body).toContain(`<h3 id="${code}">`);
  await app.close();
});
