import assert from 'node:assert/strict';
import type { Payment } from '../payments/payment.ts';
import type { RailDependencies, RailFolder, RailsDependencies } from './dependencies.ts';
import { createRailHealth, type RailIsUp } from './health.ts';
import { createRailMessages, type RailMessages } from './messages.ts';
import type { ForcedMeaning, ForcedOutcome, Rail, RailNeeds, RailWork } from './rail.ts';
import { RAIL_IDS, type RailId } from './rail-ids.ts';

/** All rails, with the networks behind them: the real ones live, the simulated ones in test mode. */
export interface Rails {
  all: readonly Rail[];
  isUp: RailIsUp;
  messages: RailMessages;
  meaningOf(rail: RailId, outcome: ForcedOutcome, code: string | null): ForcedMeaning;
  /** The jobs of the rails; they need the payments that they move. */
  work(needs: RailNeeds): RailWork;
  close(): Promise<void>;
}

export type OpenRails = (deps: RailDependencies) => Promise<readonly Rail[]>;

/** `open` is for tests that bring rails of their own. */
export async function createRails(deps: RailsDependencies, open: OpenRails = openRails): Promise<Rails> {
  const { database, now, log } = deps;
  const health = await createRailHealth({ database, now, log, outage: deps.outageOf('rail health') });
  const all = await open({ ...deps, health });
  return {
    all,
    isUp: health.isUp,
    messages: createRailMessages({ database, rails: all }),
    meaningOf(id, outcome, code) {
      const rail = all.find((one) => one.id === id);
      assert(rail, `there is no rail ${id}`);
      return rail.meaningOf(outcome, code);
    },
    work: (needs) => workOf(all, needs),
    async close() {
      health.close();
      for (const rail of all) await rail.close();
    },
  };
}

/** Each rail lives in the folder of its id, so the list of ids is the only list there is. */
async function openRails(deps: RailDependencies): Promise<Rail[]> {
  const rails: Rail[] = [];
  for (const id of RAIL_IDS) {
    const { createRail } = (await import(`./${id}/rail.ts`)) as RailFolder;
    rails.push(await createRail(deps));
  }
  return rails;
}

/** The work of all rails as one. */
function workOf(rails: readonly Rail[], needs: RailNeeds): RailWork {
  const works = new Map(rails.map((rail) => [rail.id, rail.work(needs)]));
  const each = [...works.values()];
  const of = ({ railSelected }: Payment): RailWork => {
    const work = works.get(railSelected);
    assert(work, `there is no rail ${railSelected}`);
    return work;
  };
  return {
    handlers: each.flatMap(({ handlers }) => handlers),
    cron: each.flatMap(({ cron }) => cron),
    routes(routes) {
      for (const work of each) work.routes?.(routes);
    },
    whenClockMoves: (tenantId) => each.flatMap((work) => work.whenClockMoves(tenantId)),
    applyAside: (tx, payment, content) => of(payment).applyAside(tx, payment, content),
    lockFor: (tx, payment) => of(payment).lockFor(tx, payment),
    force: (tx, payment, order) => of(payment).force(tx, payment, order),
  };
}
