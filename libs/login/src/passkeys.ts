import type { Database, Queryable } from '@libs/db';
import { hashToken, type NewId, newToken, type RandomBytes } from '@libs/seal';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { loginErrors } from './errors.ts';
import type { Challenge, Passkey, RelyingParty, StoredPasskey } from './passkey.ts';
import { type PasskeysStore, shownOf } from './passkeys-store.ts';
import { proofOf } from './password-proof.ts';
import type { Person } from './person.ts';
import type { Sessions } from './sessions.ts';

const PASSKEYS_MAX = 20;
const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;
const TRANSPORTS_MAX = 10;
const PERSON_ID = /^\w{1,64}$/;
/** EdDSA, ES256 and RS256 by their COSE numbers: what devices have, and no algorithm that Node calls experimental. */
const ALGORITHMS = [-8, -7, -257];

/** What a device is asked, and what the browser must send back with its answer. */
export interface PasskeyQuestion {
  options: PublicKeyCredentialRequestOptionsJSON;
  /** For a cookie of a few minutes: the answer counts from this browser alone. */
  browserToken: string;
}

export interface PasskeyAnswer {
  personId: string;
  /** Which password was proved before, for `holdProof` where the session begins; null where the device was asked alone. */
  passwordProof: Buffer | null;
}

export interface Passkeys {
  /** What the device is asked to make a passkey; the answer counts in this session alone. */
  registration(person: Person, sessionId: string): Promise<PublicKeyCredentialCreationOptionsJSON>;
  register(request: {
    personId: string;
    sessionId: string;
    name: string;
    response: unknown;
  }): Promise<Passkey>;
  list(personId: string): Promise<Passkey[]>;
  count(db: Queryable, personId: string): Promise<number>;
  /** In the caller's transaction; answers whether there was one. */
  remove(tx: Queryable, key: { personId: string; id: string }): Promise<boolean>;
  /** In the caller's transaction. */
  removeAll(tx: Queryable, personId: string): Promise<void>;
  /** Without a person the device says who it is, and must have checked that (a finger, a PIN). */
  question(proven: { personId: string; passwordHash: string } | null): Promise<PasskeyQuestion>;
  /** Who answered; throws 401 for an answer to another question, of another browser, or a repeat. */
  answer(request: { browserToken: string | undefined; response: unknown }): Promise<PasskeyAnswer>;
  /** In the caller's transaction: passwords that were proved for them are no longer the person's. */
  forgetSecondFactors(tx: Queryable, personId: string): Promise<void>;
  purge(): Promise<void>;
}

export interface PasskeysOptions {
  database: Database;
  store: PasskeysStore;
  sessions: Pick<Sessions, 'hold'>;
  relyingParty: RelyingParty;
  newId: NewId;
  randomBytes: RandomBytes;
  now: () => Date;
}

/** With what it needs to read certificates it takes 9 MB, so it comes with the first passkey and not with the start. */
const webauthn = () => import('@simplewebauthn/server');

export function createPasskeys(options: PasskeysOptions): Passkeys {
  const { database, store, relyingParty, now } = options;
  const { host, origins } = relyingParty;

  async function ask(browser: string, challenge: Challenge): Promise<void> {
    const expiresAt = new Date(now().getTime() + CHALLENGE_MS);
    await store.putChallenge(database, { ...challenge, browserHash: hashToken(browser), expiresAt });
  }

  const newChallenge = () => options.randomBytes(CHALLENGE_BYTES).toString('base64url');
  const bytesOf = (challenge: string) => new Uint8Array(Buffer.from(challenge, 'base64url'));
  const expected = (challenge: string) => ({
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: host,
  });

  /** The library throws where an answer is not even of the right form: whatever it says, the passkey is refused. */
  async function checked<Result extends { verified: boolean }>(
    refusal: () => Error,
    check: () => Promise<Result>,
  ): Promise<Result> {
    const result = await check().catch((cause: unknown) => {
      throw Object.assign(refusal(), { cause });
    });
    if (!result.verified) throw refusal();
    return result;
  }

  async function checkAnswer(
    tx: Queryable,
    { kind, challenge, personId }: Challenge & { personId: string },
    response: AuthenticationResponseJSON,
  ): Promise<void> {
    const credentialId = String(response.id);
    const passkey = await store.lock(tx, { personId, credentialId });
    if (passkey === undefined) throw loginErrors.passkey_refused();
    const { verifyAuthenticationResponse } = await webauthn();
    const { authenticationInfo } = await checked(loginErrors.passkey_refused, () =>
      verifyAuthenticationResponse({
        response,
        ...expected(challenge),
        credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: passkey.counter },
        requireUserVerification: kind === 'log_in',
      }),
    );
    const counter = authenticationInfo.newCounter;
    await store.markUsed(tx, { personId, id: passkey.id, counter, at: now() });
  }

  return {
    async registration(person, sessionId) {
      const known = await store.list(database, person.id);
      const challenge = newChallenge();
      await ask(sessionId, { kind: 'register', personId: person.id, challenge, passwordProof: null });
      const { generateRegistrationOptions } = await webauthn();
      return generateRegistrationOptions({
        rpName: relyingParty.name,
        rpID: host,
        userName: person.email,
        userID: new Uint8Array(Buffer.from(person.id)),
        challenge: bytesOf(challenge),
        timeout: CHALLENGE_MS,
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: known.map(describe),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      });
    },

    async register({ personId, sessionId, name, response }) {
      const asked = await store.takeChallenge(database, hashToken(sessionId), now());
      if (asked?.kind !== 'register' || asked.personId !== personId) throw loginErrors.passkey_not_valid();
      const { verifyRegistrationResponse } = await webauthn();
      const { registrationInfo } = await checked(loginErrors.passkey_not_valid, () =>
        verifyRegistrationResponse({
          response: response as RegistrationResponseJSON,
          ...expected(asked.challenge),
          requireUserVerification: false,
          supportedAlgorithmIDs: ALGORITHMS,
        }),
      );
      if (registrationInfo === undefined) throw loginErrors.passkey_not_valid();
      const { credential } = registrationInfo;
      const passkey: StoredPasskey = {
        ...{ personId, id: options.newId('psk'), name, createdAt: now(), lastUsedAt: null },
        credentialId: credential.id,
        publicKey: new Uint8Array(credential.publicKey),
        counter: credential.counter,
        transports: (credential.transports ?? []).slice(0, TRANSPORTS_MAX).map(String),
      };
      await database.transaction(async (tx) => {
        // A passkey outlives its session, so one that has ended meanwhile adds none.
        if (!(await options.sessions.hold(tx, { personId, id: sessionId })))
          throw loginErrors.passkey_not_valid();
        if ((await store.count(tx, personId)) >= PASSKEYS_MAX) throw loginErrors.too_many_passkeys();
        if (!(await store.insert(tx, passkey))) throw loginErrors.passkey_not_valid();
      });
      return shownOf(passkey);
    },

    list: async (personId) => (await store.list(database, personId)).map(shownOf),
    count: store.count,
    remove: store.delete,
    removeAll: store.deleteAll,

    forgetSecondFactors: store.deleteSecondFactors,

    async question(proven) {
      const personId = proven?.personId ?? null;
      const known = personId === null ? [] : await store.list(database, personId);
      const challenge = newChallenge();
      const browserToken = newToken('', options.randomBytes);
      await ask(browserToken, {
        ...{ kind: proven === null ? 'log_in' : 'second_factor', personId, challenge },
        passwordProof: proven && proofOf(proven.passwordHash),
      });
      const { generateAuthenticationOptions } = await webauthn();
      const question = await generateAuthenticationOptions({
        rpID: host,
        challenge: bytesOf(challenge),
        timeout: CHALLENGE_MS,
        userVerification: personId === null ? 'required' : 'discouraged',
        ...(personId === null ? {} : { allowCredentials: known.map(describe) }),
      });
      return { options: question, browserToken };
    },

    async answer({ browserToken, response }) {
      const asked =
        browserToken === undefined
          ? undefined
          : await store.takeChallenge(database, hashToken(browserToken), now());
      if (asked === undefined || asked.kind === 'register') throw loginErrors.passkey_refused();
      const { passwordProof } = asked;
      // Asked by a process of the version before, which kept none.
      if (asked.kind === 'second_factor' && passwordProof === null) throw loginErrors.passkey_refused();
      const given = response as AuthenticationResponseJSON;
      const personId = asked.personId ?? personBehind(given);
      await database.transaction((tx) => checkAnswer(tx, { ...asked, personId }, given));
      return { personId, passwordProof };
    },

    purge: () => store.deleteExpiredChallenges(database, now()),
  };
}

const describe = ({ credentialId, transports }: StoredPasskey) => ({
  id: credentialId,
  transports: [...transports],
});

/** A device that was asked for anybody says whose passkey it used. */
function personBehind({ response }: AuthenticationResponseJSON): string {
  const handle: unknown = response?.userHandle;
  const personId = typeof handle === 'string' ? Buffer.from(handle, 'base64url').toString('latin1') : '';
  // Whatever is no id of ours, NUL among it, never reaches the database.
  if (!PERSON_ID.test(personId)) throw loginErrors.passkey_refused();
  return personId;
}
