import type { Database } from '@libs/db';
import { createMetrics } from '@libs/runtime';
import { addDays, type CivilDate, fromNewYork } from '../../services/payments/src/clock/new-york.ts';
import { achBooks } from '../../services/payments/src/rails/ach/books/books.ts';
import { rtpBooks } from '../../services/payments/src/rails/rtp/books/books.ts';
import { createReconciliation } from '../../services/payments/src/reconciliation/service.ts';
import type { StoredDifference } from '../../services/payments/src/reconciliation/stored-difference.ts';
import type { Loss } from './books.ts';
import { pick } from './orders.ts';

/*
 * The daily look of every morning of the months. On the evening before, something is changed in the network's books, as
 * a fault would; the look must find exactly that, on its day, beside the losses that are known, and say the morning
 * after that it is gone.
 */

const PLANTS = {
  amount_differs:
    'update sandbox_ach_entries set amount = amount + 1 where mailbox = $1 and trace = $2 and day = $3',
  missing_in_network: 'delete from sandbox_ach_entries where mailbox = $1 and trace = $2 and day = $3',
  state_differs:
    'update sandbox_ach_entries set returned_at = now() where mailbox = $1 and trace = $2 and day = $3',
} as const;
type Plant = keyof typeof PLANTS;

const DIFFERENCES_MAX = 100_000;

export interface MorningsReport {
  planted: number;
  /** What was not found on its day, not gone after it was mended, or found though nobody planted it; in words. */
  wrong: string[];
}

export async function walkMornings(
  database: Database,
  {
    days,
    losses,
    random,
    isWhole,
  }: {
    days: readonly CivilDate[];
    losses: ReadonlyMap<string, Loss>;
    random: () => number;
    /** Every day is among them, so every loss must be found. */
    isWhole: boolean;
  },
): Promise<MorningsReport> {
  let at = new Date(0);
  let ids = 0;
  const reconciliation = createReconciliation({
    database,
    rails: [
      { id: 'ach', books: achBooks },
      { id: 'rtp', books: rtpBooks },
    ],
    now: () => at,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}_month_${String(ids).padStart(8, '0')}`;
    },
    log: { error: () => {}, warn: () => {} },
    secondLookAfterMs: 0,
    metrics: createMetrics({ service: 'payments', processMetrics: false }),
    onError: (error) => {
      throw error;
    },
  });
  const stored = () => reconciliation.list({ status: null, after: null, limit: DIFFERENCES_MAX });
  const lookAt = async (morning: CivilDate) => {
    at = fromNewYork(morning, '07:00');
    await reconciliation.handler.handle([], { signal: AbortSignal.timeout(600_000) });
    return (await stored()).filter(({ firstSeenAt }) => firstSeenAt.getTime() === at.getTime());
  };
  const report: MorningsReport = { planted: 0, wrong: [] };
  const seen = new Set<string>();
  for (const day of days) {
    const plant = await plantOn(database, day, random);
    const news = await lookAt(addDays(day, 1));
    for (const found of news) {
      const { kind, paymentId, reference } = found;
      if (plant && isPlanted(found, plant, day)) continue;
      if (paymentId && losses.get(paymentId)?.kind === kind) seen.add(paymentId);
      else report.wrong.push(`${day}: ${kind} ${paymentId ?? reference} was invented`);
    }
    if (!plant) continue;
    report.planted += 1;
    if (!news.some((found) => isPlanted(found, plant, day)))
      report.wrong.push(`${day}: ${plant.kind} ${plant.trace} was not found`);
    await plant.mend();
    at = fromNewYork(addDays(day, 1), '08:00');
    await reconciliation.handler.handle([], { signal: AbortSignal.timeout(600_000) });
    const gone = (await stored()).find((found) => isPlanted(found, plant, day));
    if (gone?.resolvedAt?.getTime() !== at.getTime())
      report.wrong.push(`${day}: ${plant.kind} ${plant.trace} did not go away`);
  }
  for (const id of losses.keys())
    if (isWhole && !seen.has(id)) report.wrong.push(`a loss was not found: ${id}`);
  return report;
}

interface Planted {
  kind: Plant;
  trace: string;
  mend(): Promise<void>;
}

function isPlanted(found: StoredDifference, { kind, trace }: Planted, day: CivilDate): boolean {
  return found.kind === kind && found.reference === trace && found.day === day;
}

/** Null where nothing left on that day. */
async function plantOn(database: Database, day: CivilDate, random: () => number): Promise<Planted | null> {
  const { rows } = await database.query<{ mailbox: string; trace: string; whole: string }>(
    `select mailbox, trace, to_jsonb(n)::text as whole from sandbox_ach_entries n
     where day = $1 and returned_at is null and exists (select from ach_entries e join ach_files f on f.id = e.file_id
       where e.scope = n.mailbox and e.trace = n.trace and f.refusal is null and e.state = 'settled')
     order by mailbox, trace`,
    [day],
  );
  if (rows.length === 0) return null;
  const { mailbox, trace, whole } = pick(random, rows);
  const kind = pick(random, Object.keys(PLANTS) as Plant[]);
  await database.query(PLANTS[kind], [mailbox, trace, day]);
  return {
    ...{ kind, trace },
    async mend() {
      await database.query('delete from sandbox_ach_entries where mailbox = $1 and trace = $2 and day = $3', [
        ...[mailbox, trace, day],
      ]);
      await database.query(
        'insert into sandbox_ach_entries select * from jsonb_populate_record(null::sandbox_ach_entries, $1)',
        [whole],
      );
    },
  };
}
