import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ACCEPTED_ID = /^[A-Za-z0-9_-]{8,64}$/;
const IDS_PER_PREFIX = 36 ** 5;

let prefix = '';
let count = IDS_PER_PREFIX;

/** Unique, not secret: 96 random bits that are drawn anew now and then, and a count. */
export function newRequestId(): string {
  if (count >= IDS_PER_PREFIX) {
    prefix = `req_${randomBytes(12).toString('base64url')}`;
    count = 0;
  }
  return prefix + (count++).toString(36).padStart(5, '0');
}

/** The caller's own id where it has a harmless form, so that one id can follow a request through several services. */
export function requestIdOf(raw: IncomingMessage): string {
  const given = raw.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : newRequestId();
}
