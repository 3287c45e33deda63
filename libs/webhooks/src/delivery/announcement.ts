import { type EndpointRef, laneKey } from './delivery.ts';

// Postgres carries at most 8,000 bytes in one message.
const MESSAGE_BYTES_MAX = 7_000;
const ENDPOINTS_ANNOUNCED_MAX = 200;

/** Said when there are too many endpoints to name: listeners look for themselves. */
export const LOOK_EVERYWHERE = '*';

/** An endpoint with new rows, or one that was switched off. */
export interface Announced extends EndpointRef {
  readonly isOff?: boolean;
}

const OFF = 'off';

/** Versions before it take this for new rows, and find none. */
export function announceOff({ tenantId, endpointId }: EndpointRef): string {
  return JSON.stringify([[tenantId, endpointId, OFF]]);
}

/** The endpoints of a batch, in as few messages as hold them. */
export function announce(refs: readonly EndpointRef[]): string[] {
  const unique = new Map(refs.map((ref) => [laneKey(ref), [ref.tenantId, ref.endpointId]]));
  if (unique.size > ENDPOINTS_ANNOUNCED_MAX) return [LOOK_EVERYWHERE];
  const messages: string[] = [];
  let parts: string[] = [];
  let bytes = 0;
  for (const pair of unique.values()) {
    const part = JSON.stringify(pair);
    const partBytes = Buffer.byteLength(part) + 1;
    if (partBytes > MESSAGE_BYTES_MAX) return [LOOK_EVERYWHERE];
    if (bytes + partBytes > MESSAGE_BYTES_MAX) {
      messages.push(`[${parts.join(',')}]`);
      parts = [];
      bytes = 0;
    }
    parts.push(part);
    bytes += partBytes;
  }
  if (parts.length > 0) messages.push(`[${parts.join(',')}]`);
  return messages;
}

/** Undefined means: look everywhere. Text that is not ours means that too, since looking is always safe. */
export function readAnnouncement(message: string): Announced[] | undefined {
  if (message === LOOK_EVERYWHERE) return undefined;
  try {
    const pairs: unknown = JSON.parse(message);
    if (!Array.isArray(pairs)) return undefined;
    const refs: Announced[] = [];
    for (const [tenantId, endpointId, word] of pairs as unknown[][]) {
      if (typeof tenantId !== 'string' || typeof endpointId !== 'string') return undefined;
      refs.push({ tenantId, endpointId, ...(word === OFF ? { isOff: true } : {}) });
    }
    return refs;
  } catch {
    return undefined;
  }
}
