/** The permissions a token can carry. A cookie session holds all of them but `offline_access`. */
export const SCOPES = [
  'tools:read',
  'tools:write',
  'account:read',
  'account:write',
  'offline_access',
] as const;
export type Scope = (typeof SCOPES)[number];

/** A request made for one customer: all data it may touch belongs to `customerId`. */
export interface Session {
  kind: 'customer';
  customerId: string;
  via: 'cookie' | 'oauth' | 'personal';
  tokenId: string | null;
  scopes: readonly Scope[];
  audience: string | null;
  /** Of an assistant: what it calls itself. */
  clientName?: string;
  /** Of a cookie: which of the person's sessions it is. */
  sessionId?: string;
}

/** A request of the operator's own automation, which uses the configured accounts and no customer's data. */
export interface InternalSession {
  kind: 'internal';
  name: string;
  scopes: readonly Scope[];
}

/** Whose token it is. What is at hand is answered without a promise: every call of every tool asks. */
export type BearerResolver = (token: string) => Answered | Promise<Answered>;
type Answered = Session | InternalSession | null;

/** What clients are told to ask for: a token with these can call every tool, and be renewed. */
export const ADVERTISED_SCOPES = 'tools:read tools:write offline_access';

/** Reads a space separated list as OAuth writes it; names this platform does not know grant nothing. */
export function parseScopes(text: string): Scope[] {
  return SCOPES.filter((scope) => text.split(' ').includes(scope));
}

const MESSAGE_SCOPES: readonly Scope[] = ['tools:read', 'tools:write', 'account:write'];

/**
 * Whether what people write may be shown: who sees the account, and neither uses its tools nor says where its events go,
 * was promised figures and settings and no messages.
 */
export function mayReadMessages({ scopes }: Pick<Session, 'scopes'>): boolean {
  return scopes.some((scope) => MESSAGE_SCOPES.includes(scope));
}
