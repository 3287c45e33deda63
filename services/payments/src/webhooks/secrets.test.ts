import { createSealer } from '@libs/seal';
import { expect, test } from 'vitest';
import { createSecretVault } from './secrets.ts';

const key = { tenantId: 'org_a.live', id: 'we_a' };
const secrets = [{ secret: 'whsec_a', expiresAt: null }];
const sealer = createSealer({ keys: [Buffer.alloc(32, 1)] });
const another = createSealer({ keys: [Buffer.alloc(32, 2)] });
const sealed = createSecretVault(sealer, []).seal(key, secrets);

test('what a process lacks the key of is not lost, and must not be written over', () => {
  expect(createSecretVault(sealer, []).openUnlessLost(key, sealed)).toEqual(secrets);
  expect(() => createSecretVault(another, []).openUnlessLost(key, sealed)).toThrow(/key/);
  const other = { ...key, id: 'we_b' };
  expect(() => createSecretVault(sealer, sealer.keyIds).openUnlessLost(other, sealed)).toThrow();
});

test('none are left where the operator has given the key up', () => {
  expect(createSecretVault(another, [sealer.keyIds[0]]).openUnlessLost(key, sealed)).toEqual([]);
});

test('a sandbox waits for no key: it goes on without the secrets that nobody here can read', () => {
  const tried = { ...key, tenantId: 'org_a.test' };
  const inTest = createSecretVault(sealer, []).seal(tried, secrets);
  expect(createSecretVault(sealer, []).openUnlessLost(tried, inTest)).toEqual(secrets);
  expect(createSecretVault(another, []).openUnlessLost(tried, inTest)).toEqual([]);
});
