/** Who did something: a person by cookie, a token, an internal session, the admin token, or the service itself. */
export interface Actor {
  type: 'customer' | 'token' | 'oauth' | 'internal' | 'admin' | 'system';
  id: string;
  /** What an assistant calls itself; nobody vouches for it. */
  name?: string;
}

export const OUTCOMES = ['success', 'failure', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One line of the log. `action` and `target` name things; they never hold a secret or the text of a message. */
export interface NewAuditEntry {
  /** `internal` for sessions that belong to no customer. */
  customerId: string;
  actor: Actor;
  /** Such as `token.created` or `tool.call`. */
  action: string;
  target: string | null;
  outcome: Outcome;
  ip: string | null;
  requestId: string | null;
}

export interface AuditEntry extends NewAuditEntry {
  id: string;
  at: Date;
}

/** The actor behind an authenticated request. */
export function actorOf(
  session:
    | {
        kind: 'customer';
        customerId: string;
        via: 'cookie' | 'oauth' | 'personal';
        tokenId: string | null;
        clientName?: string;
      }
    | { kind: 'internal'; name: string },
): Actor {
  if (session.kind === 'internal') return { type: 'internal', id: session.name };
  if (session.via === 'cookie' || session.tokenId === null)
    return { type: 'customer', id: session.customerId };
  if (session.via === 'personal') return { type: 'token', id: session.tokenId };
  const name = session.clientName;
  return { type: 'oauth', id: session.tokenId, ...(name === undefined ? {} : { name }) };
}
