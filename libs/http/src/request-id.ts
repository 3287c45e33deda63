import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ACCEPTED_ID = /^[A-Za-z0-9_-]{8,64}$/;

export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
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
