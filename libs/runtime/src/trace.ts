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

/** Of work on many things at once, each from a request of its own: by the id of what it is about. */
export type Traces = ReadonlyMap<string, Trace>;

const contexts = new AsyncLocalStorage<Trace | Traces>();

/** Whatever the work calls belongs to this trace. Nobody pays for it who brings none. */
export function runInTrace<T>(trace: Trace | undefined, work: () => T): T {
  return trace === undefined ? work() : contexts.run(trace, work);
}

/** A batch whose items have a trace each, or none: one by one they would wait for each other. */
export function runInTraces<T>(traces: Traces, work: () => T): T {
  return traces.size === 0 ? work() : contexts.run(traces, work);
}

/** For work that belongs to nobody's request though one set it off: the next batch, the next look into a queue. */
export function leaveTrace<T>(work: () => T): T {
  return contexts.getStore() === undefined ? work() : contexts.exit(work);
}

/** The one to which all of the work belongs. */
export function currentTrace(): Trace | undefined {
  const context = contexts.getStore();
  return context === undefined || isOne(context) ? context : undefined;
}

/** The one to which what is done about this thing belongs. */
export function traceOf(id: string): Trace | undefined {
  const context = contexts.getStore();
  return context === undefined || isOne(context) ? context : context.get(id);
}

function isOne(context: Trace | Traces): context is Trace {
  return 'traceId' in context;
}

/** Batches are far smaller; what jobs hand on to jobs could add up. Beyond it the rest goes on without. */
const CARRIED_MAX = 1_000;

/** As what is stored carries it on: a `traceparent`, or one for each thing. */
export function carriedTrace(): string | undefined {
  const context = contexts.getStore();
  if (context === undefined) return undefined;
  if (isOne(context)) return formatTraceparent(context);
  const each = [...context].slice(0, CARRIED_MAX).map(([id, trace]) => [id, formatTraceparent(trace)]);
  return JSON.stringify(Object.fromEntries(each));
}

/** What was carried can go on together where this is the same: alone under one trace, or with all that name their own. */
export function sharedTrace(carried: string | null | undefined): string | null {
  return carried == null || carried.startsWith('{') ? null : carried;
}

/** Goes on with what was carried and can go on together. */
export function runInCarried<T>(carried: readonly (string | null | undefined)[], work: () => T): T {
  const shared = sharedTrace(carried[0]);
  if (shared !== null) return runInTrace(parseTraceparent(shared), work);
  const traces = new Map<string, Trace>();
  for (const text of carried) {
    if (text == null) continue;
    for (const [id, traceparent] of Object.entries(JSON.parse(text) as Record<string, string>)) {
      const trace = parseTraceparent(traceparent);
      if (trace) traces.set(id, trace);
    }
  }
  return runInTraces(traces, work);
}
