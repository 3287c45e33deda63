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

export type Trace = { traceId: string; parentId: string; sampled: boolean };

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** W3C Trace Context: version ff and zero ids are invalid; version 00 has exactly four fields, later ones may have more. */
export function parseTraceparent(header: string | string[] | undefined): Trace | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', parentId = '', flags = '', rest] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
