import type { Changes, Database } from '@libs/db';
import type { RateLimit } from '@libs/http';
import { baseErrors } from '@libs/runtime';
import type { NewId } from '@libs/seal';
import type { Registry } from 'prom-client';
import type { Approvals } from '../approvals/service.ts';
import type { AuditService } from '../audit/service.ts';
import type { Meter } from '../billing/meter/meter.ts';
import type { ArgumentsMarks } from '../calls/arguments-mark.ts';
import type { CallSession } from '../calls/call.ts';
import { createCallMetrics } from '../calls/call-metrics.ts';
import { type CallTool, createCallTool } from '../calls/call-tool.ts';
import { createIdempotency, type Idempotency } from '../calls/idempotency.ts';
import type { ConnectorService } from '../connectors/service.ts';
import type { CredentialService } from '../credentials/service.ts';
import type { EmitEvent } from '../events/event.ts';
import { createLinks } from '../links.ts';
import { type PlatformFilter, platformFilter, type ToolList, type View } from '../tools/lists.ts';
import type { ToolsService } from '../tools/service.ts';
import { type Cancellations, createCancellations } from './cancellations.ts';

export interface McpServiceDependencies {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on'>;
  publicUrl: string;
  tools: ToolsService;
  meter: Meter;
  approvals: Pick<Approvals, 'pass'>;
  marks: ArgumentsMarks;
  /** Calls per customer. */
  callRate: Pick<RateLimit, 'take'>;
  credentials: Pick<CredentialService, 'open' | 'openAfterRefusal' | 'hold'>;
  connectors: Pick<ConnectorService, 'context'>;
  audit: Pick<AuditService, 'record'>;
  metrics: Registry;
  emitEvent: EmitEvent;
  newId: NewId;
  onError: (error: unknown, context?: { tool: string; requestId: string }) => void;
  callTimeoutMs?: number;
}

/** Tool calls and lists, without any HTTP. */
export interface McpService {
  readonly callTool: CallTool;
  readonly cancellations: Cancellations;
  readonly jobs: Idempotency['jobs'];
  /** Not a promise where the customer's switches and connections are in the cache. */
  listFor(session: CallSession, view: View): ToolList | Promise<ToolList>;
  /** Reads `?platforms=` and `?mode=`; throws 400 for a name that is no platform, and for another mode. */
  readView(query: ViewQuery): View;
  /** Told when the list of a customer changed; null when it may have for anybody. */
  onListChanged: ToolsService['onListChanged'];
  /** Before the meter's. */
  close(): Promise<void>;
}

export interface ViewQuery {
  platforms?: string | readonly string[];
  mode?: string | readonly string[];
}

export function createMcpService(deps: McpServiceDependencies): McpService {
  const { database, tools, meter, marks, newId, onError } = deps;
  const { catalogue, lists } = tools;
  const idempotency = createIdempotency({ database, holder: meter.holder, marks, newId, onError });
  const cancellations = createCancellations({ database, changes: deps.changes, onError });
  const callTool = createCallTool({
    lists,
    findTool: catalogue.find,
    callRate: deps.callRate,
    meter,
    idempotency,
    approvals: deps.approvals,
    credentials: deps.credentials,
    connectors: deps.connectors,
    audit: deps.audit,
    metrics: createCallMetrics(deps.metrics),
    async tellFailure({ customerId, tool, platform, failure }) {
      const data = { tool, platform, code: failure.code, message: failure.message };
      await database
        .transaction((tx) => deps.emitEvent(tx, { customerId, type: 'tool.call.failed', data }))
        .catch(onError);
    },
    links: createLinks(deps.publicUrl),
    onError,
    ...(deps.callTimeoutMs === undefined ? {} : { timeoutMs: deps.callTimeoutMs }),
  });

  function readPlatforms(value: ViewQuery['platforms']): PlatformFilter | null {
    if (value === undefined) return null;
    const ids = [value].flat().flatMap((text) => text.split(','));
    const unknown = ids.find((id) => !catalogue.hasPlatform(id));
    if (unknown === undefined) return platformFilter(ids);
    const known = catalogue.platforms.map(({ id }) => id).join(', ');
    const detail = `Must be a comma-separated list of platforms: ${known}.`;
    throw baseErrors.invalid_query({ errors: [{ parameter: 'platforms', code: 'not_allowed', detail }] });
  }

  function readMode(value: ViewQuery['mode']): View['mode'] {
    if (value === undefined) return 'list';
    if (value === 'list' || value === 'search') return value;
    const detail = 'Must be `search`, or `list`, which is the same as none.';
    throw baseErrors.invalid_query({ errors: [{ parameter: 'mode', code: 'not_allowed', detail }] });
  }

  return {
    callTool,
    cancellations,
    jobs: idempotency.jobs,
    close: idempotency.close,
    onListChanged: tools.onListChanged,
    listFor(session, view) {
      if (session.kind === 'internal') return lists.forInternal(view);
      const selection = tools.selectionOf(session.customerId);
      return selection instanceof Promise
        ? selection.then((loaded) => lists.forCustomer(loaded, view))
        : lists.forCustomer(selection, view);
    },
    readView: ({ platforms, mode }) =>
      platforms === undefined && mode === undefined
        ? USUAL_VIEW
        : { platforms: readPlatforms(platforms), mode: readMode(mode) },
  };
}

/** What a session sees that asked for nothing special. */
export const USUAL_VIEW: View = { platforms: null, mode: 'list' };
