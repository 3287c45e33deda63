import { type LiveAccess, type Scope, scopes } from '../keys/key.ts';

/** In the order of what they may do: each may do what those after it may. */
export const roles = ['owner', 'developer', 'viewer'] as const;
export type Role = (typeof roles)[number];

export interface User {
  id: string;
  email: string;
  name: string;
  emailVerified: boolean;
  /** May use the operator's endpoints. */
  operator: boolean;
  /** Whether a password alone does not let the person in. */
  passkeyRequired: boolean;
  createdAt: Date;
}

export interface NamedPerson {
  /** The user's. */
  id: string;
  email: string;
  name: string;
}

/** A person as the other members see them. */
export interface Member extends NamedPerson {
  role: Role;
  createdAt: Date;
}

export interface Invitation {
  id: string;
  organisationId: string;
  email: string;
  role: Role;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

/** An organisation as one of its members sees it. */
export interface MemberOf {
  id: string;
  name: string;
  role: Role;
  liveAccess: LiveAccess;
}

/** The person behind a session cookie, and what the person may do in the organisation that the session looks at. */
export interface PersonCaller {
  readonly userId: string;
  readonly sessionId: string;
  readonly emailVerified: boolean;
  readonly operator: boolean;
  /** Null when the person was removed from it, or is in none. */
  readonly membership: Membership | null;
}

export interface Membership {
  readonly organisationId: string;
  readonly role: Role;
  readonly liveAccess: LiveAccess;
  readonly testEpoch: number;
}

const every: ReadonlySet<Scope> = new Set(scopes);
const reading: ReadonlySet<Scope> = new Set(scopes.filter((scope) => scope.endsWith(':read')));

export function scopesOf(role: Role): ReadonlySet<Scope> {
  return role === 'viewer' ? reading : every;
}

/** Whether a role is at least another. */
export function reaches(role: Role, needed: Role): boolean {
  return roles.indexOf(role) <= roles.indexOf(needed);
}
