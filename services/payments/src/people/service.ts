import type { Database, Queryable } from '@libs/db';
import {
  emailKeys,
  type Login,
  loginErrors,
  type PasskeyAnswer,
  type PasskeyQuestion,
  type People,
  type SessionOrigin,
} from '@libs/login';
import { hashToken, type NewId } from '@libs/seal';
import { errors } from '../errors.ts';
import type { KeyService } from '../keys/service.ts';
import type { Invitations } from './invitations.ts';
import { countOrganisationsOf, findMember, holdRole } from './members-store.ts';
import type { MemberOf, PersonCaller, Role, User } from './person.ts';
import {
  findCaller,
  findLogin,
  findStartOrganisation,
  findUser,
  insertMembership,
  insertUser,
  listOrganisationsOf,
  lockUser,
  markVerified,
  rememberOrganisation,
  renameUser,
  setOperator,
  setPasskeyRequired,
  setPassword,
} from './store.ts';

const ORGANISATIONS_PER_PERSON_MAX = 100;
export const SESSION_TOKEN_PREFIX = 'pss_';

/** What a session shows of itself: who, where, and where else. */
export interface SessionView {
  user: User;
  passkeys: number;
  organisation: MemberOf | null;
  organisations: MemberOf[];
}

export type SignedIn = SessionView & { token: string };

export interface SignupRequest {
  email: string;
  password: string;
  name: string;
  /** What the organisation is called; without a name where the person was invited to one. */
  organisation: string;
  /** From the link of an invitation: the person joins that organisation instead of making one. */
  invitation: string | null;
  from: SessionOrigin;
}

export interface AccountChange {
  name?: string | undefined;
  /** Whether a password alone does not let the person in; only who has the password says so. */
  passkey?: { required: boolean; password: string } | undefined;
}

/** A session, or what the person's device is asked beside the password. */
export type LoginResult = SignedIn | { question: PasskeyQuestion };

/** Which session of whom. */
export type OwnSession = Pick<PersonCaller, 'userId' | 'sessionId'>;

export interface PeopleService {
  /**
   * Makes a person and an organisation that is theirs; a mail to verify the address leaves with it. The link of an
   * invitation came by mail, so it proves the address.
   */
  signup(request: SignupRequest): Promise<SignedIn>;
  /** Undefined for a wrong password. Throws over the limit of failures. */
  login(request: { email: string; password: string; from: SessionOrigin }): Promise<LoginResult | undefined>;
  /** For a person whom a device has proved; undefined where the password before it is another one by now. */
  startSession(answered: PasskeyAnswer, from: SessionOrigin): Promise<SignedIn | undefined>;
  logout(token: string): Promise<void>;
  /** Who sends this cookie; undefined for a session that is unknown, expired or ended. */
  findCaller(token: string): Promise<PersonCaller | undefined>;
  /** Whether the session still runs; if so, nobody ends it before the transaction does. */
  holdSession(tx: Queryable, session: OwnSession): Promise<boolean>;
  /** The same for the role of a member; undefined for who is none. */
  holdRole(tx: Queryable, member: { organisationId: string; userId: string }): Promise<Role | undefined>;
  view(userId: string, organisationId: string | null): Promise<SessionView>;
  update(userId: string, change: AccountChange): Promise<void>;
  /** Throws for a wrong password, and for the last one while the person demands one. */
  removePasskey(request: { userId: string; id: string; password: string }): Promise<void>;
  /**
   * The way back for who demands a passkey and has none left: a password alone lets in again. Answers who it was, and
   * whom it concerns beside them.
   */
  removeAllPasskeys(email: string): Promise<{ userId: string; organisationIds: string[] }>;
  /** The session looks at another organisation from now on, and so will the next one. */
  switchTo(session: OwnSession, organisationId: string): Promise<SessionView>;
  /** Another organisation of the person, which the session then looks at. */
  addOrganisation(tx: Queryable, session: OwnSession, name: string): Promise<SessionView>;
  acceptInvitation(session: OwnSession, token: string): Promise<SessionView>;
  /** Throws while nobody has proved to read the address: anybody could have signed up with it. */
  setOperator(email: string, operator: boolean): Promise<User>;
}

export interface PeopleDependencies {
  database: Database;
  keys: Pick<KeyService, 'addOrganisation'>;
  invitations: Pick<Invitations, 'accept'>;
  login: Login<User>;
  newId: NewId;
  now: () => Date;
}

/** The people of this service, as the login library asks for them. */
export const peopleOfLogin: People<User> = {
  find: findUser,
  findLogin,
  lock: lockUser,
  setPassword,
  markVerified,
};

export function createPeopleService(deps: PeopleDependencies): PeopleService {
  const { database, keys, login, invitations, newId, now } = deps;

  async function viewOf(db: Queryable, user: User, organisationId: string | null): Promise<SessionView> {
    const organisations = await listOrganisationsOf(db, user.id, ORGANISATIONS_PER_PERSON_MAX);
    const organisation = organisations.find(({ id }) => id === organisationId) ?? null;
    return { user, passkeys: await login.passkeys.count(db, user.id), organisations, organisation };
  }

  async function signIn(tx: Queryable, user: User, from: SessionOrigin): Promise<SignedIn> {
    const context = await findStartOrganisation(tx, user.id);
    const { token } = await login.sessions.start(tx, { personId: user.id, from, context });
    return { ...(await viewOf(tx, user, context)), token };
  }

  /** The link came by mail, so that whoever has it reads the address. */
  async function joinBy(tx: Queryable, token: string, { id, email }: User): Promise<string> {
    const { organisationId } = await invitations.accept(tx, { token, userId: id, email });
    await login.security.verifyAddress(tx, id);
    return organisationId;
  }

  /** Another organisation with its owner. */
  async function found(tx: Queryable, userId: string, name: string): Promise<string> {
    const { id } = await keys.addOrganisation(tx, { name: name.trim(), liveAccess: 'none' });
    await insertMembership(tx, { organisationId: id, userId, role: 'owner', createdAt: now() });
    return id;
  }

  /** With the person locked, whose organisations are all shown with a session: one more than that would be in none. */
  async function refuseTooMany(tx: Queryable, userId: string): Promise<void> {
    if ((await countOrganisationsOf(tx, userId)) <= ORGANISATIONS_PER_PERSON_MAX) return;
    throw errors.limit_reached({
      detail: `A person can be in ${ORGANISATIONS_PER_PERSON_MAX} organisations.`,
    });
  }

  async function demandPasskey(tx: Queryable, userId: string, required: boolean): Promise<void> {
    if (required && (await login.passkeys.count(tx, userId)) === 0) {
      throw errors.state_conflict({ detail: 'Add a passkey first.' });
    }
    await setPasskeyRequired(tx, userId, required);
  }

  async function byEmail(email: string): Promise<User> {
    const found = await findLogin(database, emailKeys(email));
    if (found === undefined) throw errors.not_found({ detail: 'There is no such person.' });
    return found.person;
  }

  async function lookAt(
    tx: Queryable,
    { userId, sessionId }: OwnSession,
    organisationId: string,
  ): Promise<SessionView> {
    // The person before the session, as who sets a password locks them: in the other order one could end as a deadlock.
    await rememberOrganisation(tx, userId, organisationId);
    await login.sessions.setContext(tx, { personId: userId, id: sessionId, context: organisationId });
    return viewOf(tx, await existing(tx, userId), organisationId);
  }

  return {
    async signup({ email, password, name, organisation, invitation, from }) {
      const passwordHash = await login.passwords.hash(password);
      return database.transaction(async (tx) => {
        const user: User = {
          ...{ id: newId('usr'), email: email.trim(), name: name.trim(), createdAt: now() },
          ...{ emailVerified: false, operator: false, passkeyRequired: false },
        };
        const isNew = await insertUser(tx, { ...user, emailKeys: emailKeys(email), passwordHash });
        if (!isNew) throw loginErrors.email_taken();
        const organisationId = await (invitation === null
          ? found(tx, user.id, organisation)
          : joinBy(tx, invitation, user));
        if (invitation === null) await login.mails.plan(tx, 'verify', user.id);
        await rememberOrganisation(tx, user.id, organisationId);
        const { token } = await login.sessions.start(tx, {
          personId: user.id,
          from,
          context: organisationId,
        });
        return { ...(await viewOf(tx, await existing(tx, user.id), organisationId)), token };
      });
    },

    startSession: ({ personId, passwordProof }, from) =>
      database.transaction(async (tx) => {
        const isStill =
          passwordProof === null || (await login.security.holdProof(tx, { personId, passwordProof }));
        return isStill ? signIn(tx, await existing(tx, personId), from) : undefined;
      }),

    async login({ email, password, from }) {
      const outcome = await login.security.checkPassword({ email, password });
      if (!outcome.ok) return undefined;
      const { person } = outcome;
      if (person.passkeyRequired) {
        const proven = { personId: person.id, passwordHash: outcome.passwordHash };
        return { question: await login.passkeys.question(proven) };
      }
      return database.transaction(async (tx) =>
        (await login.security.holdPassword(tx, outcome)) ? signIn(tx, person, from) : undefined,
      );
    },

    async logout(token) {
      await login.sessions.end(token);
    },

    async findCaller(token) {
      if (!token.startsWith(SESSION_TOKEN_PREFIX)) return undefined;
      return findCaller(database, hashToken(token), now());
    },

    holdRole,
    holdSession: (tx, { userId, sessionId }) => login.sessions.hold(tx, { personId: userId, id: sessionId }),

    view: async (userId, organisationId) =>
      viewOf(database, await existing(database, userId), organisationId),

    update(userId, { name, passkey }) {
      const change = async (tx: Queryable) => {
        await lockUser(tx, userId);
        if (name !== undefined) await renameUser(tx, userId, name.trim());
        if (passkey !== undefined) await demandPasskey(tx, userId, passkey.required);
      };
      return passkey === undefined
        ? database.transaction(change)
        : login.security.withPassword({ personId: userId, password: passkey.password }, change);
    },

    removePasskey: ({ userId, id, password }) =>
      login.security.withPassword({ personId: userId, password }, async (tx) => {
        if (!(await login.passkeys.remove(tx, { personId: userId, id }))) {
          throw errors.not_found({ detail: 'There is no such passkey.' });
        }
        const { passkeyRequired } = await existing(tx, userId);
        if (passkeyRequired && (await login.passkeys.count(tx, userId)) === 0) throw errors.last_passkey();
      }),

    async removeAllPasskeys(email) {
      const { id: userId } = await byEmail(email);
      return database.transaction(async (tx) => {
        await lockUser(tx, userId);
        await setPasskeyRequired(tx, userId, false);
        await login.passkeys.removeAll(tx, userId);
        const organisations = await listOrganisationsOf(tx, userId, ORGANISATIONS_PER_PERSON_MAX);
        return { userId, organisationIds: organisations.map(({ id }) => id) };
      });
    },

    switchTo: (session, organisationId) =>
      database.transaction(async (tx) => {
        const member = await findMember(tx, { organisationId, userId: session.userId });
        if (member === undefined) throw errors.not_found({ detail: 'There is no such organisation.' });
        return lookAt(tx, session, organisationId);
      }),

    async addOrganisation(tx, session, name) {
      await lockUser(tx, session.userId);
      const founded = await found(tx, session.userId, name);
      await refuseTooMany(tx, session.userId);
      return lookAt(tx, session, founded);
    },

    acceptInvitation: (session, token) =>
      database.transaction(async (tx) => {
        await lockUser(tx, session.userId);
        const joined = await joinBy(tx, token, await existing(tx, session.userId));
        await refuseTooMany(tx, session.userId);
        return lookAt(tx, session, joined);
      }),

    async setOperator(email, operator) {
      const person = await byEmail(email);
      if (operator && !person.emailVerified) {
        throw errors.state_conflict({ detail: 'Nobody has proved to read this address yet.' });
      }
      await setOperator(database, person.id, operator);
      return { ...person, operator };
    },
  };
}

/** A person whom a session or a transaction has proved to be there. */
async function existing(db: Queryable, userId: string): Promise<User> {
  const user = await findUser(db, userId);
  if (user === undefined) throw new Error(`the session of ${userId} outlived its person`);
  return user;
}
