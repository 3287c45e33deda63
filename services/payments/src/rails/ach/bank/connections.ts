import { type AchScope, isCompressed, LIVE_SCOPE } from '../entries/scope.ts';
import type { AchOperator } from '../operator/operator.ts';
import type { LinePace } from '../operator/times.ts';
import type { AchTransport } from './transport.ts';

export interface AchConnections {
  sandbox: AchOperator | null;
  live: AchTransport | null;
}

export function linePaceOf(scope: AchScope): LinePace {
  return isCompressed(scope) ? 'compressed' : 'calendar';
}

/** To whom the files of a scope go. In the sandbox each scope has a mailbox of its own. */
export function createTransportFor({
  sandbox,
  live,
}: AchConnections): (scope: AchScope) => AchTransport | null {
  return (scope) => {
    if (scope === LIVE_SCOPE) return live;
    return sandbox?.connect(scope, linePaceOf(scope)) ?? null;
  };
}
