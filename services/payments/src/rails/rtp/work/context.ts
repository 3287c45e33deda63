import type { Database } from '@libs/db';
import type { Clocks } from '../../../clock/service.ts';
import type { Quarantine } from '../../../quarantine/service.ts';
import type { Mode } from '../../../tenant.ts';
import type { RailLog } from '../../alert.ts';
import type { RailHealth } from '../../health.ts';
import type { MessageVault } from '../../message-vault.ts';
import type { ApplyOutcomes } from '../../rail.ts';
import type { RtpConnection, RtpConnections } from '../lines/connection.ts';
import type { Delivery } from '../lines/transport.ts';

export interface RtpWorkerDependencies {
  database: Database;
  connections: RtpConnections;
  applyOutcomes: ApplyOutcomes;
  clocks: Clocks;
  health: Pick<RailHealth, 'reportFailure' | 'reportSuccess'>;
  now: () => Date;
  newId: (prefix: string) => string;
  vault: MessageVault;
  quarantine: Pick<Quarantine, 'putAside'>;
  log: RailLog;
}

/** These jobs hold payments: they are tried until they succeed, and every failure is reported on the way. */
export const ATTEMPTS_WITHOUT_END = Number.MAX_SAFE_INTEGER;
const RETRY_MS = 250;
const RETRY_MS_MAX = 60_000;

export function retryDelayMs(attempt: number): number {
  return Math.min(RETRY_MS * 2 ** Math.min(attempt - 1, 10), RETRY_MS_MAX);
}

/** A mode whose settings were taken away while messages wait: they wait for the settings to come back. */
class RtpNotConnected extends Error {
  override readonly name = 'RtpNotConnected';

  constructor(mode: Mode) {
    super(`there is no RTP network for ${mode} mode, and messages for it are waiting`);
  }
}

export function connectionOf(deps: RtpWorkerDependencies, mode: Mode): RtpConnection {
  const connection = deps.connections[mode];
  if (!connection) throw new RtpNotConnected(mode);
  return connection;
}

export function inChunks<Item>(items: readonly Item[], size: number): Item[][] {
  const chunks: Item[][] = [];
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size));
  return chunks;
}

/** Tells the rail's health what the connection did. The sandbox is no connection: it is part of this program. */
export async function reportDeliveries(
  deps: RtpWorkerDependencies,
  mode: Mode,
  deliveries: readonly Delivery[],
): Promise<void> {
  if (mode === 'test') return;
  for (const delivery of deliveries) {
    if (delivery.kind === 'delivered') {
      await deps.health.reportSuccess('rtp', mode, 'connection');
    } else {
      deps.log.warn(
        { mode, outcome: delivery.kind, reason: delivery.reason },
        'an RTP message may not have arrived',
      );
      const failure = { cause: 'unreachable', detail: delivery.reason, decisive: false } as const;
      await deps.health.reportFailure('rtp', mode, failure);
    }
  }
}
