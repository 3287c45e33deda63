import { ConnectorError } from '../connectors/connector.ts';
import type { ExchangeWatch } from '../connectors/egress.ts';
import type { ConnectorService } from '../connectors/service.ts';
import type { OpenResult } from '../credentials/credential.ts';
import type { CredentialService } from '../credentials/service.ts';
import type { Links } from '../links.ts';
import { type CatalogueTool, isReadOnly, type PlatformTool, takesIdempotencyKey } from '../tools/tool.ts';
import { type CallRequest, principalOf } from './call.ts';
import { CallTimeout, withDeadline } from './deadline.ts';
import { CANCELED, fromConnector, maybeDone, notReady } from './failures.ts';
import type { Failure } from './result.ts';
import { checkLength } from './result-length.ts';
import { shareReads } from './shared-reads.ts';

export interface PlatformCallsDependencies {
  credentials: Pick<CredentialService, 'open' | 'openAfterRefusal' | 'hold'>;
  connectors: Pick<ConnectorService, 'context'>;
  links: Links;
  onError: (error: unknown, context: { tool: string; requestId: string }) => void;
  timeoutMs: number;
}

export interface Reached {
  ran: Ran;
  /** It left and no answer came, or only a part of it was answered: nobody knows what became of the call. */
  isOpen: boolean;
}

type Ran = { kind: 'done'; content: Record<string, unknown> } | { kind: 'failed'; failure: Failure };

export interface PlatformCalls {
  /** Runs a tool at its platform, under the customer's credential and a deadline. Never rejects. */
  reach(request: CallRequest, tool: PlatformTool): Promise<Reached>;
  /** What a caller may read of an exception; anything that is not a connector's own word is logged, not shown. */
  explain(error: unknown, request: CallRequest, tool: CatalogueTool): Failure;
}

/** What is known of a call's requests while it runs. */
interface CallWatch extends ExchangeWatch {
  running(): void;
  /** The token was refused, and with it all that was asked for. */
  refused(): void;
}

export function createPlatformCalls(deps: PlatformCallsDependencies): PlatformCalls {
  // Calls of one customer on one platform that arrive together open the credential once.
  const share = shareReads<OpenResult>();
  const openShared: CredentialService['open'] = (input) =>
    share(JSON.stringify([principalOf(input.session), input.platform, input.account]), () =>
      deps.credentials.open(input),
    );
  const { links, timeoutMs } = deps;

  async function reach(request: CallRequest, tool: PlatformTool): Promise<Reached> {
    // A connector that speaks something else than HTTP counts as having sent from the moment it runs, unless it knows better.
    let mayHaveActed = false;
    let hasLeft = false;
    const exchange = {
      running() {
        mayHaveActed = true;
      },
      connecting() {
        mayHaveActed = hasLeft;
      },
      leaving() {
        hasLeft = true;
        mayHaveActed = true;
      },
      refused() {
        hasLeft = false;
        mayHaveActed = false;
      },
    };
    try {
      const ran = await withDeadline(request.signal, timeoutMs, (signal, timeLeftMs) =>
        callPlatform(request, tool, { signal, timeLeftMs, exchange }),
      );
      return { ran, isOpen: false };
    } catch (error) {
      const isOpen = isOpenAfter(error, tool, mayHaveActed);
      const failure = explain(error, request, tool);
      const told = isOpen && !isReadOnly(tool.class) ? maybeDone(failure) : failure;
      return { ran: { kind: 'failed', failure: told }, isOpen };
    }
  }

  function isOpenAfter(error: unknown, tool: PlatformTool, mayHaveActed: boolean): boolean {
    if (!(error instanceof ConnectorError)) return mayHaveActed;
    if (error.outcomeOpen) return true;
    // Of several requests the last one was not taken; what the others did stays, unless the connector knows better.
    const isHalfDone = error.code === 'platform_unavailable' && mayHaveActed && !error.nothingDone;
    return isHalfDone && takesIdempotencyKey(tool.class);
  }

  /** A token that the platform refuses as expired is renewed once; nothing was done under it. */
  async function callPlatform(
    request: CallRequest,
    tool: PlatformTool,
    during: { signal: AbortSignal; timeLeftMs: () => number; exchange: CallWatch },
  ): Promise<Ran> {
    const { session } = request;
    const { signal, timeLeftMs, exchange } = during;
    const { account, ...args } = request.args;
    const choice = session.kind === 'internal' && typeof account === 'string' ? { account } : {};
    const opened = await openShared({ session, platform: tool.platform, ...choice });
    if (opened.kind !== 'ok') return notOpened(opened, tool.platform);
    const { progress, vendorKey: idempotencyKey = null } = request;
    const run = async ({ opened: { version, ...credential } }: Extract<OpenResult, { kind: 'ok' }>) => {
      exchange.running();
      const { customerId, platform } = credential;
      const context = deps.connectors.context({
        ...{ ...credential, signal, timeLeftMs, progress, idempotencyKey, watch: exchange },
        // The operator's own accounts are there for as long as the settings have them.
        ...(customerId === null
          ? {}
          : { stillConnected: (tx) => deps.credentials.hold(tx, { customerId, platform, version }) }),
      });
      return checkLength(await tool.run(args, context), tool);
    };
    try {
      return { kind: 'done', content: await run(opened) };
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.code !== 'token_expired') throw error;
    }
    exchange.refused();
    signal.throwIfAborted();
    const renewed = await deps.credentials.openAfterRefusal(opened.opened);
    return renewed.kind === 'ok'
      ? { kind: 'done', content: await run(renewed) }
      : notOpened(renewed, tool.platform);
  }

  function notOpened(opened: Exclude<OpenResult, { kind: 'ok' }>, platform: string): Ran {
    // What may be open then is the renewal; the platform was not asked for the call, or refused it.
    const failure =
      opened.kind === 'unavailable'
        ? fromConnector(opened.error, platform, links)
        : notReady(opened.kind, links.connect(platform));
    return { kind: 'failed', failure };
  }

  function explain(error: unknown, request: CallRequest, tool: CatalogueTool): Failure {
    if (error instanceof ConnectorError) return fromConnector(error, tool.platform, links);
    if (error instanceof CallTimeout) return { code: 'platform_unavailable', message: error.message };
    if (request.signal.aborted) return CANCELED;
    deps.onError(error, { tool: tool.name, requestId: request.requestId });
    return {
      code: 'internal_error',
      message: `Something went wrong here; it is logged under ${request.requestId}.`,
      details: { request_id: request.requestId },
    };
  }

  return { reach, explain };
}
