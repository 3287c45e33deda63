import { type Queryable, textArray } from '@libs/db';
import { toClock } from '../../clock/clock.ts';
import type { PaymentMethod } from '../../payment-methods/method.ts';
import type { RailId } from '../../routing/decision.ts';
import type { ContextQuestion, KnownTenant } from './known-tenant.ts';

interface ContextRow {
  tenant_id: string;
  version: number;
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
  const wanted = questions.flatMap(({ tenant, methodIds }) => [...methodIds].map((id) => ({ tenant, id })));
  const { rows } = await db.query<ContextRow>({ name: 'payments.context', text: CONTEXT }, [
    textArray(questions.map(({ tenant }) => tenant.id)),
    textArray(questions.map(({ tenant }) => tenant.organisationId)),
    textArray(wanted.map(({ tenant }) => tenant.id)),
    textArray(wanted.map(({ id }) => id)),
  ]);
  return new Map(rows.map((row) => [row.tenant_id, toKnown(row)]));
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
    version: row.version,
    clock: toClock(row.clock_frozen_at, row.clock_offset_ms),
    subscriptions: (row.endpoints ?? []).map(({ i, e }) => ({ endpointId: i, events: e })),
    methods: new Map(methods.map((method) => [method.id, method])),
  };
}

// `lateral … limit 1` keeps each look-up a look-up: as a plain join, a plan made early reads the growing side whole.
const CONTEXT = `
select asked.tenant_id, organisations.clock_frozen_at, organisations.clock_offset_ms,
  coalesce((select version from tenant_versions known where known.tenant_id = asked.tenant_id), 0) as version,
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
