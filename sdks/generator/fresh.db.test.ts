// The types of both SDKs come from the service's document. When it has changed: npm test -- sdks/generator -u
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { errors } from '../../services/payments/src/errors.ts';
import { startHarness } from '../../tests/contract/payments/harness.ts';
import { isRetryable } from '../node/src/retry.ts';
import { generate } from './generate.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const typeScriptPath = new URL('../node/src/types.ts', import.meta.url).pathname;
const pythonPath = new URL('../python/src/payments_api/_api_types.py', import.meta.url).pathname;
let made: { typeScript: string; python: string };

beforeAll(async () => {
  const harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' } });
  made = generate((await harness.call('GET', '/openapi.json')).body, errors.codes);
  await harness.stop();
});

test('the types of the Node client are those of the document', async () => {
  const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));
  const formatted = execFileSync(biome, ['format', '--stdin-file-path=sdks/node/src/types.ts'], {
    cwd: root,
    input: made.typeScript,
    encoding: 'utf8',
  });
  await expect(formatted).toMatchFileSnapshot(typeScriptPath);
});

test('the types of the Python client are those of the document', async () => {
  await expect(made.python).toMatchFileSnapshot(pythonPath);
});

test('what the registry of errors says of trying again is what the clients do', () => {
  const statuses: Record<string, number> = {
    conflict: 409,
    unavailable: 503,
    refused: 422,
    rate_limited: 429,
  };
  const definitions = Object.entries(
    errors.definitions as Record<string, { kind: string; retryable?: boolean }>,
  );
  const stated = definitions.filter(([, { retryable }]) => retryable !== undefined);
  expect(stated.length).toBeGreaterThan(2);
  for (const [code, { kind, retryable }] of stated) {
    const status = statuses[kind] as number;
    expect([code, isRetryable({ status, code, retryAfterMs: undefined })]).toEqual([code, retryable]);
  }
});
