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

type Hold = (tx: Queryable) => Promise<void>;

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
  /** Throws where nobody would be left to manage the members, and where `hold` does: the caller may not any more. */
  changeRole(key: MemberKey, change: { role: Role; hold: Hold }): Promise<Member>;
  /** The same. Holds for the next request of that person, in every process. */
  remove(key: MemberKey, change: { hold: Hold }): Promise<void>;
}

export interface MembersDependencies {
  database: Database;
}

export function createMembers({ database }: MembersDependencies): Members {
  /**
   * The owners are locked first: whoever changes one of them sees what the others did. The caller, who may be one of
   * them, is held after that: two who held themselves before would wait for each other.
   */
  async function lockForChange(
    tx: Queryable,
    key: MemberKey,
    { keepsOwner, hold }: { keepsOwner: boolean; hold: Hold },
  ): Promise<Member> {
    const owners = await lockOwners(tx, key.organisationId);
    await hold(tx);
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

    changeRole: (key, { role, hold }) =>
      database.transaction(async (tx) => {
        const member = await lockForChange(tx, key, { keepsOwner: role === 'owner', hold });
        await setRole(tx, { ...key, role });
        return { ...member, role };
      }),

    remove: (key, { hold }) =>
      database.transaction(async (tx) => {
        await lockForChange(tx, key, { keepsOwner: false, hold });
        await deleteMembership(tx, key);
      }),
  };
}
