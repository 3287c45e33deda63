import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** W3C Trace Context: who asked, so that what follows from it can be found in the logs of every service on the way. */
export type Trace = { traceId: string; parentId: string; sampled: boolean };

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Version ff and zero ids are invalid; version 00 has exactly four fields, later ones may have more. */
export function parseTraceparent(header: string | string[] | undefined): Trace | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', parentId = '', flags = '', rest] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, parentId, sampled }: Trace): string {
  return `00-${traceId}-${parentId}-${sampled ? '01' : '00'}`;
}

/** As the next one on the way is told of it: the same trace, from a step of ours. */
export function nextTraceparent(trace: Trace): string {
  return formatTraceparent({ ...trace, parentId: randomBytes(8).toString('hex') });
}

const traces = new AsyncLocalStorage<Trace>();

/** Whatever the work calls belongs to this trace. Nobody pays for it who brings none. */
export function runInTrace<T>(trace: Trace | undefined, work: () => T): T {
  return trace === undefined ? work() : traces.run(trace, work);
}

/** For work that belongs to nobody's request though one set it off: the next batch, the next look into a queue. */
export function leaveTrace<T>(work: () => T): T {
  return traces.getStore() === undefined ? work() : traces.exit(work);
}

export function currentTrace(): Trace | undefined {
  return traces.getStore();
}
