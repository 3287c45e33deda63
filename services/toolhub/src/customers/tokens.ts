import type { Database } from '@libs/db';
import { hashToken, type NewId, newToken, type RandomBytes } from '@libs/seal';
import { errors } from '../errors.ts';
import type { TokenSource } from './bearer.ts';
import type { Scope } from './identity.ts';
import type { Revocations } from './revocations.ts';
import type { Standing } from './standing.ts';
import {
  deleteToken,
  deleteTokensExpiredBefore,
  findPersonalToken,
  findTokenInUse,
  insertToken,
  listTokens,
  type PersonalToken,
} from './tokens-store.ts';

const PERSONAL_TOKEN_PREFIX = 'thp_';
export const DEFAULT_TOKEN_SCOPES: readonly Scope[] = ['tools:read', 'tools:write', 'account:read'];
const TOKENS_PER_CUSTOMER_MAX = 100;
const DAY_MS = 24 * 60 * 60_000;
/** How long an expired token stays in the list, so that its owner sees why it stopped working. */
const EXPIRED_KEPT_DAYS = 30;

export interface NewPersonalToken {
  customerId: string;
  standing: Standing;
  name: string;
  scopes?: readonly Scope[] | undefined;
  expiresInDays?: number | undefined;
}

export interface TokenService extends TokenSource {
  create(input: NewPersonalToken): Promise<{ record: PersonalToken; token: string }>;
  list(query: { customerId: string; before: string | undefined; limit: number }): Promise<PersonalToken[]>;
  findById(token: { customerId: string; id: string }): Promise<PersonalToken | undefined>;
  revoke(token: { customerId: string; id: string }): Promise<boolean>;
  purge(): Promise<void>;
}

export function createTokenService(deps: {
  database: Database;
  revocations: Pick<Revocations, 'transaction'>;
  newId: NewId;
  randomBytes: RandomBytes;
  now: () => Date;
}): TokenService {
  const { database, newId, randomBytes, now } = deps;
  return {
    prefix: PERSONAL_TOKEN_PREFIX,

    findById: (token) => findPersonalToken(database, token),

    async create({ customerId, standing, name, scopes = DEFAULT_TOKEN_SCOPES, expiresInDays }) {
      const createdAt = now();
      const token = newToken(PERSONAL_TOKEN_PREFIX, randomBytes);
      const record: PersonalToken = {
        customerId,
        id: newId('tok'),
        name,
        scopes,
        createdAt,
        expiresAt:
          expiresInDays === undefined ? null : new Date(createdAt.getTime() + expiresInDays * DAY_MS),
        lastUsedAt: null,
      };
      await database.transaction(async (tx) => {
        await standing(tx);
        const stored = await insertToken(
          tx,
          { ...record, tokenHash: hashToken(token) },
          TOKENS_PER_CUSTOMER_MAX,
        );
        if (!stored) throw errors.token_limit_reached();
      });
      return { record, token };
    },

    list: (query) => listTokens(database, query),

    revoke: (token) =>
      deps.revocations.transaction(async (tx, revoke) => {
        const existed = await deleteToken(tx, token);
        if (existed) await revoke({ tokenId: token.id });
        return existed;
      }),

    async find(tokenHash, at) {
      const found = await findTokenInUse(database, tokenHash, at);
      if (found === undefined) return undefined;
      const { customerId, id, scopes, expiresAt } = found;
      return {
        session: { kind: 'customer', customerId, via: 'personal', tokenId: id, scopes, audience: null },
        expiresAt,
        family: null,
      };
    },

    purge: () => deleteTokensExpiredBefore(database, new Date(now().getTime() - EXPIRED_KEPT_DAYS * DAY_MS)),
  };
}
