import { type AwayServer, type Database, EVERY_SERVER, findServersThere, type ServersThere } from '@libs/db';
import { claimDue, type DueJob, putOff, readDue } from './spread-store.ts';
import { claimJobs, type Job } from './store.ts';

/**
 * Where tables are spread: for each of these jobs the tenants whose rows it reads or writes; none where it does without any, and
 * `null` where nobody knows, as for work of all of them.
 */
export type TenantsOf = (
  jobs: readonly Job[],
) => readonly (readonly string[] | null)[] | Promise<readonly (readonly string[] | null)[]>;

export interface ClaimWish {
  readonly name: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly tenantsOf: TenantsOf | undefined;
  /** Whether no further batch is wanted for these servers. */
  readonly isFull: (servers: string) => boolean;
}

/** A batch, whose jobs all are for tenants of the same servers. */
export interface Claim {
  readonly jobs: readonly Job[];
  readonly servers: string;
  /** Others may be due, too. */
  readonly isMore: boolean;
  readonly away: ReadonlyMap<string, AwayServer>;
}

/** Where one server has everything. */
const ONE_SERVER = '';
const NONE_AWAY: ReadonlyMap<string, AwayServer> = new Map();

/** Jobs of servers that have enough to do stand before those of the others: so many are passed. */
const PASSED_MAX = 100;
/** Shorter is a write more for every job that waits, longer is idleness when its server is back. */
const PUT_OFF_MS = 5_000;

export async function claimNext(db: Database, wish: ClaimWish): Promise<Claim> {
  if (db.isSpread === true) return claimByServer(db, wish);
  const jobs = await claimJobs(db, wish);
  return { jobs, servers: ONE_SERVER, isMore: jobs.length === wish.limit, away: NONE_AWAY };
}

/**
 * Jobs are looked at first: a claim uses up a try, and holds up all others of its batch. When they are seen here their servers are asked
 * whether they show what was committed with them. Those of one that is away are left for a while, so that they stand in nobody's way.
 */
async function claimByServer(db: Database, wish: ClaimWish): Promise<Claim> {
  const { name, limit, leaseMs, isFull } = wish;
  const due = await readDue(db, { name, limit: limit + PASSED_MAX });
  const { serversOf, away } = await findServersOf(db, due, wish.tenantsOf);
  const there = new Map<string, DueJob[]>();
  const waiting: DueJob[] = [];
  for (const job of due) {
    const servers = serversOf.get(job) ?? [];
    if (servers.some((server) => away.has(server))) waiting.push(job);
    else addTo(there, servers.toSorted().join(' '), job);
  }
  if (waiting.length > 0) await putOff(db, waiting, PUT_OFF_MS);
  const [servers, jobs] = [...there].find(([each]) => !isFull(each)) ?? [ONE_SERVER, []];
  const claimed = jobs.length === 0 ? [] : await claimDue(db, jobs.slice(0, limit), leaseMs);
  return { jobs: claimed, servers, isMore: claimed.length > 0 || waiting.length > 0, away };
}

export interface ServersOfJobs extends Pick<ServersThere, 'away'> {
  readonly serversOf: ReadonlyMap<Job, readonly string[]>;
}

export async function findServersOf(
  db: Database,
  jobs: readonly Job[],
  tenantsOf: TenantsOf = () => jobs.map(() => null),
): Promise<ServersOfJobs> {
  const tenants = jobs.length === 0 ? [] : await tenantsOf(jobs);
  const { serverOf, away } = await findServersThere(
    db,
    tenants.flatMap((ids) => ids ?? []),
    { everyServer: tenants.includes(null) },
  );
  const serversOf = jobs.map((job, index): [Job, string[]] => {
    const ids = tenants[index] ?? null;
    return [
      job,
      ids === null ? [EVERY_SERVER] : [...new Set(ids.map((id) => serverOf.get(id) ?? ONE_SERVER))],
    ];
  });
  return { serversOf: new Map(serversOf), away };
}

function addTo(groups: Map<string, DueJob[]>, key: string, job: DueJob): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [job]);
  else group.push(job);
}
