// Passkeys by the rules of the library: a question counts once, for minutes, for whom and what it was asked.
import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createIdFactory } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SoftwareAuthenticator } from '../test/authenticator.ts';
import { loginMigrations } from './migrations.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createPasskeysStore } from './passkeys-store.ts';

const origin = 'https://hub.example';
const host = 'hub.example';
const MINUTE_MS = 60_000;
const clock = { ms: Date.parse('2026-11-17T08:00:00Z') };
const now = () => new Date(clock.ms);
const refused = { code: 'passkey_refused' };
const notValid = { code: 'passkey_not_valid' };

let db: TestDatabase;
let passkeys: Passkeys;

beforeAll(async () => {
  db = await createTestDatabase({ schema: 'public', series: [loginMigrations] });
  passkeys = createPasskeys({
    database: db.database,
    store: createPasskeysStore('person_id'),
    sessions: { hold: async () => true },
    relyingParty: { name: 'Hub', host, origins: [origin] },
    newId: createIdFactory({ now, randomBytes }),
    ...{ randomBytes, now },
  });
});
afterAll(() => db.drop());

const person = (id: string) => ({ id, email: `${id}@example.com`, emailVerified: true });
const newDevice = (verifies = true) => new SoftwareAuthenticator({ origin, host, verifies });

async function add(personId: string, device: SoftwareAuthenticator, sessionId = `ses_${personId}`) {
  const response = device.create(await passkeys.registration(person(personId), sessionId));
  return passkeys.register({ personId, sessionId, name: 'Phone', response });
}

async function logIn(device: SoftwareAuthenticator): Promise<string> {
  const { options, browserToken } = await passkeys.question(null);
  return (await passkeys.answer({ browserToken, response: device.get(options) })).personId;
}

test('a device that checks who holds it lets in, one that does not lets nobody in alone', async () => {
  const [careful, careless] = [newDevice(), newDevice(false)];
  await add('ada', careful);
  await add('ada', careless);
  expect(await logIn(careful)).toBe('ada');
  await expect(logIn(careless)).rejects.toMatchObject(refused);
  const { options, browserToken } = await passkeys.question({ personId: 'ada', passwordHash: 'of ada' });
  expect(await passkeys.answer({ browserToken, response: careless.get(options) })).toEqual({
    personId: 'ada',
    passwordProof: expect.any(Buffer),
  });
});

test('a question to one person is answered by nobody else', async () => {
  const [bob, eve] = [newDevice(), newDevice()];
  await add('bob', bob);
  await add('eve', eve);
  const { options, browserToken } = await passkeys.question({ personId: 'bob', passwordHash: 'of bob' });
  await expect(passkeys.answer({ browserToken, response: eve.get(options) })).rejects.toMatchObject(refused);
});

test('a passkey is added for whoever was asked, in the session that asked', async () => {
  const device = newDevice();
  const response = device.create(await passkeys.registration(person('carl'), 'ses_carl'));
  const add = (personId: string, sessionId: string) =>
    passkeys.register({ personId, sessionId, name: 'Phone', response });
  await expect(add('carl', 'ses_other')).rejects.toMatchObject(notValid);
  await expect(add('dora', 'ses_carl')).rejects.toMatchObject(notValid);
  // The question was spent by the try before.
  await expect(add('carl', 'ses_carl')).rejects.toMatchObject(notValid);
});

test('a question to add one lets nobody in, and the other way round', async () => {
  const device = newDevice();
  await add('finn', device);
  const registration = await passkeys.registration(person('finn'), 'ses_finn');
  const response = device.get(registration);
  await expect(passkeys.answer({ browserToken: 'ses_finn', response })).rejects.toMatchObject(refused);
  const { options, browserToken } = await passkeys.question(null);
  const added = newDevice().create({ ...options, user: { id: '' } });
  const request = { personId: 'finn', sessionId: browserToken, name: 'Phone', response: added };
  await expect(passkeys.register(request)).rejects.toMatchObject(notValid);
});

test('a question is over after five minutes', async () => {
  const device = newDevice();
  await add('gina', device);
  const [early, late] = [await passkeys.question(null), await passkeys.question(null)];
  clock.ms += 5 * MINUTE_MS - 1;
  const answer = ({ options, browserToken }: typeof early) =>
    passkeys.answer({ browserToken, response: device.get(options) });
  expect(await answer(early)).toEqual({ personId: 'gina', passwordProof: null });
  clock.ms += 1;
  await expect(answer(late)).rejects.toMatchObject(refused);
});

test('a copy of a device, whose counter lags behind, is refused', async () => {
  const device = newDevice();
  await add('hans', device);
  const [first, second] = [await passkeys.question(null), await passkeys.question(null)];
  const earlier = device.get(first.options);
  const later = device.get(second.options);
  await passkeys.answer({ browserToken: second.browserToken, response: later });
  await expect(
    passkeys.answer({ browserToken: first.browserToken, response: earlier }),
  ).rejects.toMatchObject(refused);
});

test('an account has twenty at most, and each device once', async () => {
  const first = newDevice();
  await add('iris', first);
  await expect(add('iris', first)).rejects.toMatchObject(notValid);
  for (let count = 1; count < 20; count += 1) await add('iris', newDevice());
  await expect(add('iris', newDevice())).rejects.toMatchObject({ code: 'too_many_passkeys' });
  expect(await passkeys.list('iris')).toHaveLength(20);
});

test('whoever a device names as its owner must be somebody who has it', async () => {
  const device = newDevice();
  await add('jane', device);
  for (const handle of ['kate', 'ja ne', 'jane\u0000', '']) {
    const { options, browserToken } = await passkeys.question(null);
    const { response, ...rest } = device.get(options);
    const userHandle = Buffer.from(handle).toString('base64url');
    const answer = { ...rest, response: { ...response, userHandle } };
    await expect(passkeys.answer({ browserToken, response: answer })).rejects.toMatchObject(refused);
  }
});
