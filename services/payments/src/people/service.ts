import type { Database, Queryable } from '@libs/db';
import { emailKey, type Login, loginErrors, type People, type SessionOrigin } from '@libs/login';
import { hashToken, type NewId } from '@libs/seal';
import type { KeyService } from '../keys/service.ts';
import type { MemberOf, PersonCaller, User } from './person.ts';
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
  renameUser,
  setPassword,
} from './store.ts';

export const ORGANISATIONS_PER_PERSON_MAX = 100;
export const SESSION_TOKEN_PREFIX = 'pss_';

/** What a session shows of itself: who, where, and where else. */
export interface SessionView {
  user: User;
  organisation: MemberOf | null;
  organisations: MemberOf[];
}

export type SignedIn = SessionView & { token: string };

export interface SignupRequest {
  email: string;
  password: string;
  name: string;
  organisation: string;
  from: SessionOrigin;
}

export interface PeopleService {
  /** Makes a person and an organisation that is theirs. A mail to verify the address leaves with it. */
  signup(request: SignupRequest): Promise<SignedIn>;
  /** Undefined for a wrong password. Throws over the limit of failures. */
  login(request: { email: string; password: string; from: SessionOrigin }): Promise<SignedIn | undefined>;
  logout(token: string): Promise<void>;
  /** Who sends this cookie; undefined for a session that is unknown, expired or ended. */
  findCaller(token: string): Promise<PersonCaller | undefined>;
  view(userId: string, organisationId: string | null): Promise<SessionView>;
  rename(userId: string, name: string): Promise<void>;
}

export interface PeopleDependencies {
  database: Database;
  keys: Pick<KeyService, 'addOrganisation'>;
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
  const { database, keys, login, newId, now } = deps;

  async function viewOf(db: Queryable, user: User, organisationId: string | null): Promise<SessionView> {
    const organisations = await listOrganisationsOf(db, user.id, ORGANISATIONS_PER_PERSON_MAX);
    return {
      user,
      organisations,
      organisation: organisations.find(({ id }) => id === organisationId) ?? null,
    };
  }

  return {
    async signup({ email, password, name, organisation, from }) {
      const passwordHash = await login.passwords.hash(password);
      return database.transaction(async (tx) => {
        const createdAt = now();
        const { id: organisationId } = await keys.addOrganisation(tx, {
          name: organisation.trim(),
          liveAccess: 'none',
        });
        const user: User = {
          ...{ id: newId('usr'), email: email.trim(), name: name.trim(), createdAt },
          ...{ emailVerified: false, operator: false },
        };
        const isNew = await insertUser(tx, {
          ...user,
          ...{ emailKey: emailKey(email), passwordHash, organisationId },
        });
        if (!isNew) throw loginErrors.email_taken();
        await insertMembership(tx, { organisationId, userId: user.id, role: 'owner', createdAt });
        const { token } = await login.sessions.start(tx, {
          personId: user.id,
          from,
          context: organisationId,
        });
        await login.mails.plan(tx, 'verify', user.id);
        return { ...(await viewOf(tx, user, organisationId)), token };
      });
    },

    async login({ email, password, from }) {
      const outcome = await login.security.checkPassword({ email, password });
      if (!outcome.ok) return undefined;
      const { person } = outcome;
      return database.transaction(async (tx) => {
        const context = await findStartOrganisation(tx, person.id);
        const { token } = await login.sessions.start(tx, { personId: person.id, from, context });
        return { ...(await viewOf(tx, person, context)), token };
      });
    },

    async logout(token) {
      await login.sessions.end(token);
    },

    async findCaller(token) {
      if (!token.startsWith(SESSION_TOKEN_PREFIX)) return undefined;
      return findCaller(database, hashToken(token), now());
    },

    async view(userId, organisationId) {
      const user = await findUser(database, userId);
      if (user === undefined) throw new Error(`the session of ${userId} outlived its person`);
      return viewOf(database, user, organisationId);
    },

    async rename(userId, name) {
      await renameUser(database, userId, name.trim());
    },
  };
}
