/** A person at a browser. */
export interface Session {
  id: string;
  personId: string;
  /** What the service remembers with it. */
  context: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** Where it was started from, for the person to recognise it. */
  ip: string | null;
  userAgent: string | null;
}

/** Where a session is started from. */
export interface SessionOrigin {
  ip: string | null;
  userAgent: string | null;
}

export const SESSION_DAYS = 30;
