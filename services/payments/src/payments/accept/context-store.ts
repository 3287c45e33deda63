import { type Queryable, textArray } from '@libs/db';
import { toClock } from '../../clock/clock.ts';
import type { PaymentMethod } from '../../payment-methods/method.ts';
import type { RailId } from '../../rails/rail-ids.ts';
import type { ContextQuestion, KnownTenant } from './known-tenant.ts';
import { lockVersion } from './spread-store.ts';

interface ContextRow {
  tenant_id: string;
  version: number | null;
  test_epoch: number | null;
  clock_frozen_at: Date | null;
  clock_offset_ms: number | null;
  endpoints: { i: string; e: string[] }[] | null;
  methods: { i: string; y: PaymentMethod['type']; s: RailId[]; r: RailId[]; d: boolean }[] | null;
}

/** Reads at one moment what four features know, with the version that it belongs to. */
export async function findContexts(
  db: Queryable,
  questions: readonly ContextQuestion[],
): Promise<Map<string, KnownTenant>> {
  if (db.isSpread) return findContextsApart(db, questions);
  const wanted = questions.flatMap(({ tenant, methodIds }) => [...methodIds].map((id) => ({ tenant, id })));
  const { rows } = await db.query<ContextRow>({ name: 'payments.context', text: CONTEXT }, [
    textArray(questions.map(({ tenant }) => tenant.id)),
    textArray(questions.map(({ tenant }) => tenant.organisationId)),
    textArray(wanted.map(({ tenant }) => tenant.id)),
    textArray(wanted.map(({ id }) => id)),
  ]);
  const unversioned = rows.filter((row) => row.version === null).map((row) => row.tenant_id);
  if (unversioned.length > 0) await beginVersions(db, unversioned);
  return new Map(rows.map((row) => [row.tenant_id, toKnown(row)]));
}

/**
 * The same for tables that are spread: a statement for each tenant, its version first. What changes between the looks is
 * then newer than the version that it is remembered with, and found stale when it is used.
 */
async function findContextsApart(
  db: Queryable,
  questions: readonly ContextQuestion[],
): Promise<Map<string, KnownTenant>> {
  const known = new Map<string, KnownTenant>();
  for (const { tenant, methodIds } of questions) {
    const versions = await db.query<Pick<ContextRow, 'version'>>(
      'select version from tenant_versions where tenant_id = $1',
      [tenant.id],
    );
    const version = versions.rows[0]?.version ?? null;
    if (version === null) await beginVersions(db, [tenant.id]);
    const clocks = await db.query<Pick<ContextRow, 'test_epoch' | 'clock_frozen_at' | 'clock_offset_ms'>>(
      'select test_epoch, clock_frozen_at, clock_offset_ms from organisations where id = $1',
      [tenant.organisationId],
    );
    const parts = await db.query<Pick<ContextRow, 'endpoints' | 'methods'>>(PARTS, [
      tenant.id,
      [...methodIds],
    ]);
    const clock = clocks.rows[0] ?? { test_epoch: null, clock_frozen_at: null, clock_offset_ms: null };
    const { endpoints = null, methods = null } = parts.rows[0] ?? {};
    known.set(tenant.id, toKnown({ tenant_id: tenant.id, version, ...clock, endpoints, methods }));
  }
  return known;
}

const PARTS = `
select (select json_agg(json_build_object('i', id, 'e', events))
   from webhook_endpoints where tenant_id = $1 and status = 'enabled') as endpoints,
  (select json_agg(json_build_object('i', id, 'y', type, 's', rails_send, 'r', rails_receive, 'd', deleted_at is not null))
   from payment_methods where tenant_id = $1 and id = any($2)) as methods`;

const FIRST_VERSION = 0;

/** A version can only be compared and locked where there is a row. One that was raised meanwhile stays as it is. */
async function beginVersions(db: Queryable, tenantIds: readonly string[]): Promise<void> {
  await db.query(
    `insert into tenant_versions (tenant_id, version) select tenant_id, ${FIRST_VERSION} from unnest($1::text[]) as begun (tenant_id)
     order by tenant_id on conflict do nothing`,
    [textArray(tenantIds)],
  );
}

/** Keeps the tenants as they are until the transaction ends. Those that have no version yet must be read first. */
export async function lockVersions(tx: Queryable, tenantIds: Iterable<string>): Promise<void> {
  if (tx.isSpread) {
    for (const tenantId of [...tenantIds].sort()) await lockVersion(tx, tenantId);
    return;
  }
  await tx.query(
    `select 1 from unnest($1::text[]) as wanted (tenant_id)
     cross join lateral (select 1 from tenant_versions v where v.tenant_id = wanted.tenant_id limit 1 for share) as locked`,
    [textArray([...tenantIds].sort())],
  );
}

function toKnown(row: ContextRow): KnownTenant {
  const methods = (row.methods ?? []).map(({ i, y, s, r, d }) => ({
    tenantId: row.tenant_id,
    id: i,
    type: y,
    railsSend: s,
    railsReceive: r,
    isDeleted: d,
  }));
  return {
    version: row.version ?? FIRST_VERSION,
    testEpoch: row.test_epoch ?? 0,
    clock: toClock(row.clock_frozen_at, row.clock_offset_ms),
    subscriptions: (row.endpoints ?? []).map(({ i, e }) => ({ endpointId: i, events: e })),
    methods: new Map(methods.map((method) => [method.id, method])),
  };
}

// `lateral … limit 1` keeps each look-up a look-up: as a plain join, a plan made early reads the growing side whole.
const CONTEXT = `
select asked.tenant_id, organisations.test_epoch, organisations.clock_frozen_at, organisations.clock_offset_ms,
  (select version from tenant_versions known where known.tenant_id = asked.tenant_id) as version,
  (select json_agg(json_build_object('i', id, 'e', events))
   from webhook_endpoints endpoint where endpoint.tenant_id = asked.tenant_id and status = 'enabled') as endpoints,
  (select json_agg(json_build_object('i', m.id, 'y', m.type, 's', m.rails_send, 'r', m.rails_receive,
      'd', m.deleted_at is not null))
   from unnest($3::text[], $4::text[]) as wanted (tenant_id, id)
   cross join lateral (select * from payment_methods stored where stored.tenant_id = wanted.tenant_id
     and stored.id = wanted.id limit 1) as m
   where wanted.tenant_id = asked.tenant_id) as methods
from unnest($1::text[], $2::text[]) as asked (tenant_id, organisation_id)
left join organisations on organisations.id = asked.organisation_id`;
