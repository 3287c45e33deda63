import type { Database, Queryable } from '@libs/db';
import { errors } from '../errors.ts';
import {
  deleteMembership,
  findMember,
  findNames,
  listMembers,
  listVerified,
  lockOwnAlone,
  lockOwners,
  setRole,
} from './members-store.ts';
import type { Member, NamedPerson, Role } from './person.ts';

/** More people than that need no mail about one thing. */
const REACHED_MAX = 50;

export interface MemberKey {
  organisationId: string;
  userId: string;
}

export interface Members {
  /** Organisations that nobody else is in, with the epoch of their test mode, which stays until the transaction ends. */
  ownAlone(tx: Queryable, userId: string): Promise<{ organisationId: string; testEpoch: number }[]>;
  list(query: { organisationId: string; before: string | null; limit: number }): Promise<Member[]>;
  /** The names behind ids, also of people who have left. */
  namesOf(userIds: readonly string[]): Promise<ReadonlyMap<string, NamedPerson>>;
  /** Whom mail about the organisation may be sent to. */
  reachable(
    db: Queryable,
    query: { organisationId: string; roles: readonly Role[] },
  ): Promise<readonly NamedPerson[]>;
  /** Throws where nobody would be left to manage the members. */
  changeRole(key: MemberKey, role: Role): Promise<Member>;
  /** The same. Holds for the next request of that person, in every process. */
  remove(key: MemberKey): Promise<void>;
}

export interface MembersDependencies {
  database: Database;
}

export function createMembers({ database }: MembersDependencies): Members {
  /** The owners are locked first: whoever changes one of them sees what the others did. */
  async function lockForChange(tx: Queryable, key: MemberKey, keepsOwner: boolean): Promise<Member> {
    const owners = await lockOwners(tx, key.organisationId);
    const member = await findMember(tx, key);
    if (member === undefined) throw errors.not_found({ detail: 'There is no such member.' });
    if (!keepsOwner && owners.length === 1 && owners[0] === key.userId) throw errors.last_owner();
    return member;
  }

  return {
    ownAlone: lockOwnAlone,
    list: (query) => listMembers(database, query),
    reachable: (db, query) => listVerified(db, { ...query, limit: REACHED_MAX }),
    async namesOf(userIds) {
      const names = await findNames(database, [...new Set(userIds)]);
      return new Map(names.map((name) => [name.id, name]));
    },

    changeRole: (key, role) =>
      database.transaction(async (tx) => {
        const member = await lockForChange(tx, key, role === 'owner');
        await setRole(tx, { ...key, role });
        return { ...member, role };
      }),

    remove: (key) =>
      database.transaction(async (tx) => {
        await lockForChange(tx, key, false);
        await deleteMembership(tx, key);
      }),
  };
}
