import type { Database, Queryable } from '@libs/db';
import { checkUrlResolved, type EgressPolicy } from '@libs/egress';
import type { FieldError } from '@libs/runtime';
import { idTimeMs, type NewId, newId as newIdAt, type RandomBytes } from '@libs/seal';
import {
  type Delivery,
  type DeliveryQueue,
  type DisableReason,
  type EndpointAddress,
  type EndpointRef,
  newWebhookSecret,
} from '@libs/webhooks';
import { errors } from '../errors.ts';
import type { EventType, PaymentsEvent } from '../events/event.ts';
import { type EventService, writeEvents } from '../events/service.ts';
import { NO_FIELDS, type Unchecked } from '../more-fields.ts';
import type { Notices } from '../notices/service.ts';
import { type ByMode, type Mode, parseTenantId, type Tenant } from '../tenant.ts';
import {
  ALL_EVENTS,
  type EventChoice,
  endpointToApi,
  type SigningSecret,
  validSecrets,
  type WebhookEndpoint,
} from './endpoint.ts';
import { ENDPOINTS_MAX, ROTATION_OVERLAP_MS, SECRETS_MAX } from './rules.ts';
import type { SecretVault } from './secrets.ts';
import {
  countDisabledEndpoints,
  deleteEndpoint,
  type EndpointKey,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEnabledEndpoints,
  lockEndpoint,
  lockEndpoints,
  lockEndpointsOf,
  moveEndpoint,
  updateEndpoint,
} from './store.ts';

export interface WebhooksDependencies {
  databases: ByMode<Database>;
  queue: DeliveryQueue;
  vault: SecretVault;
  policy: EgressPolicy;
  now: () => Date;
  newId: NewId;
  randomBytes: RandomBytes;
  events: Pick<EventService, 'record'>;
  /** Endpoints outlive a reset of the sandbox: what changes them goes where they are by now. */
  holdTenant: (tx: Queryable, tenant: Tenant) => Promise<Tenant>;
  /** Tells the people of the organisation. */
  notices: Pick<Notices, 'plan'>;
}

export interface NewEndpoint {
  url: string;
  events: readonly EventChoice[] | null;
  description: string | null;
}

/** What is absent stays as it is. */
export interface EndpointPatch {
  url?: string;
  events?: readonly EventChoice[];
  description?: string | null;
  status?: WebhookEndpoint['status'];
}

/** So that a look costs the same however many there are. */
const UNDELIVERED_COUNTED_MAX = 1_000;

export function createWebhooks(deps: WebhooksDependencies) {
  const { databases, queue, vault, now, newId } = deps;

  function eventOf(type: EventType, endpoint: WebhookEndpoint): PaymentsEvent {
    const at = now();
    return {
      tenantId: endpoint.tenantId,
      id: newId('evt'),
      type,
      subjectId: endpoint.id,
      data: JSON.stringify(endpointToApi(endpoint)),
      occurredAt: at,
      createdAt: at,
    };
  }

  async function lockedOf({ id: tenantId }: Tenant, tx: Queryable, id: string): Promise<WebhookEndpoint> {
    const endpoint = await lockEndpoint(tx, { tenantId, id });
    if (endpoint === undefined) throw notFound();
    return endpoint;
  }

  const locked = async (tx: Queryable, tenant: Tenant, id: string) =>
    lockedOf(await deps.holdTenant(tx, tenant), tx, id);

  /** What is not found may be where a reset has moved it that this process has not heard of yet. */
  async function whereItIs<T>(
    tenant: Tenant,
    find: (db: Queryable, tenantId: string) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const db = databases[tenant.mode];
    const found = await find(db, tenant.id);
    if (found !== undefined || tenant.mode === 'live') return found;
    return db.transaction(async (tx) => find(tx, (await deps.holdTenant(tx, tenant)).id));
  }

  async function existing(tenant: Tenant, id: string): Promise<WebhookEndpoint> {
    const endpoint = await whereItIs(tenant, (db, tenantId) => findEndpoint(db, { tenantId, id }));
    if (endpoint === undefined) throw notFound();
    return endpoint;
  }

  return {
    /** Throws 422 for an address that webhooks may not go to. Looks names up, so call it outside transactions. */
    async checkUrl(url: string): Promise<void> {
      const checked = await checkUrlResolved(url, deps.policy);
      if (checked.ok) return;
      throw errors.webhook_url_refused({
        detail: `This address is refused: ${checked.detail}.`,
        errors: [refusedUrl(checked)],
      });
    },

    /** The same of a body that is refused for something else. */
    async refusedFields({ url }: Unchecked): Promise<readonly FieldError[]> {
      if (typeof url !== 'string') return NO_FIELDS;
      const checked = await checkUrlResolved(url, deps.policy);
      return checked.ok ? NO_FIELDS : [refusedUrl(checked)];
    },

    async create(
      tx: Queryable,
      tenant: Tenant,
      input: NewEndpoint,
    ): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
      if ((await lockEndpointsOf(tx, tenant.id)) >= ENDPOINTS_MAX) {
        throw errors.limit_reached({ detail: `At most ${ENDPOINTS_MAX} webhook endpoints are possible.` });
      }
      const secret = newWebhookSecret(deps.randomBytes);
      const key = { tenantId: tenant.id, id: newId('we') };
      const at = now();
      const endpoint: WebhookEndpoint = {
        ...key,
        url: input.url,
        events: input.events ?? [ALL_EVENTS],
        description: input.description,
        status: 'enabled',
        disabledReason: null,
        secretsSealed: vault.seal(key, [{ secret, expiresAt: null }]),
        createdAt: at,
        updatedAt: at,
      };
      await insertEndpoint(tx, endpoint);
      return { endpoint, secret };
    },

    get: existing,

    /** Deliveries that were given up in a time; at most `UNDELIVERED_COUNTED_MAX` are counted. */
    countUndelivered(tenant: Tenant, { from, to }: { from: Date; to: Date }): Promise<number> {
      const filter = { tenantId: tenant.id, from, to, max: UNDELIVERED_COUNTED_MAX };
      return queue.countUndelivered(databases[tenant.mode], filter);
    },

    countDisabled: (tenant: Tenant): Promise<number> =>
      countDisabledEndpoints(databases[tenant.mode], tenant.id),

    async list(tenant: Tenant, page: { beforeId: string | null; limit: number }): Promise<WebhookEndpoint[]> {
      const some = await whereItIs(tenant, async (db, tenantId) => {
        const endpoints = await listEndpoints(db, tenantId, page);
        return endpoints.length === 0 ? undefined : endpoints;
      });
      return some ?? [];
    },

    /** `hold` throws where the caller has ended meanwhile, and answers the tenant that stays until the change is made. */
    update(
      mode: Mode,
      id: string,
      { patch, hold }: { patch: EndpointPatch; hold: (tx: Queryable) => Promise<Tenant> },
    ): Promise<WebhookEndpoint> {
      return databases[mode].transaction(async (tx) => {
        const before = await lockedOf(await hold(tx), tx, id);
        const after = patched(before, patch, now());
        await updateEndpoint(tx, after);
        const ref = { tenantId: after.tenantId, endpointId: id };
        if (after.status === 'disabled' && before.status === 'enabled') await queue.abandonEndpoint(tx, ref);
        const isNewStart = after.status !== before.status || after.url !== before.url;
        if (after.status === 'enabled' && isNewStart) await queue.forgetFailures(tx, ref);
        return after;
      });
    },

    remove(tenant: Tenant, id: string): Promise<void> {
      return databases[tenant.mode].transaction(async (tx) => {
        const { tenantId } = await locked(tx, tenant, id);
        await queue.abandonEndpoint(tx, { tenantId, endpointId: id });
        await deleteEndpoint(tx, { tenantId, id });
      });
    },

    /** Every endpoint of a tenant: their number is bounded. */
    async removeAll(tx: Queryable, tenant: Tenant): Promise<void> {
      for (const { id } of await lockEndpoints(tx, tenant.id)) {
        await queue.abandonEndpoint(tx, { tenantId: tenant.id, endpointId: id });
        await deleteEndpoint(tx, { tenantId: tenant.id, id });
      }
    },

    /** A new secret signs from now on; those before it sign along for a day. The tenant is one that is held. */
    async rotateSecret(
      tx: Queryable,
      tenant: Tenant,
      id: string,
    ): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
      const endpoint = await lockedOf(tenant, tx, id);
      const at = now();
      const old = validSecrets(vault.openUnlessLost(endpoint, endpoint.secretsSealed), at);
      if (old.length >= SECRETS_MAX) {
        throw errors.limit_reached({ detail: `At most ${SECRETS_MAX} secrets can be valid at once.` });
      }
      const secret = newWebhookSecret(deps.randomBytes);
      const overlapEnd = new Date(at.getTime() + ROTATION_OVERLAP_MS);
      const secrets: SigningSecret[] = [
        { secret, expiresAt: null },
        ...old.map((one) => ({ ...one, expiresAt: one.expiresAt ?? overlapEnd })),
      ];
      const rotated = { ...endpoint, secretsSealed: vault.seal(endpoint, secrets), updatedAt: at };
      await updateEndpoint(tx, rotated);
      return { endpoint: rotated, secret };
    },

    /** Sends an event to this endpoint alone, whatever it has subscribed to. */
    async sendTest(tx: Queryable, tenant: Tenant, id: string): Promise<Delivery> {
      const endpoint = await locked(tx, tenant, id);
      refuseDisabled(endpoint);
      const event = eventOf('webhook_endpoint.test', endpoint);
      await writeEvents(tx, [event]);
      const [deliveryId = ''] = await queue.enqueue(tx, [
        { tenantId: event.tenantId, endpointId: id, eventId: event.id, eventType: event.type },
      ]);
      return found(await queue.find(tx, { tenantId: event.tenantId, id: deliveryId }));
    },

    async listDeliveries(
      tenant: Tenant,
      id: string,
      page: { eventId: string | null; beforeId: string | null; limit: number },
    ): Promise<Delivery[]> {
      const { eventId, beforeId, limit } = page;
      const { tenantId } = await existing(tenant, id);
      if (eventId !== null) {
        const ids = deliveryIdsOf(eventId);
        if (ids === undefined || beforeId !== null) return [];
        const sought = { tenantId, endpointId: id, eventId, ...ids };
        const delivery = await queue.findOfEvent(databases[tenant.mode], sought);
        return delivery === undefined ? [] : [delivery];
      }
      const filter = { tenantId, endpointId: id, limit };
      return queue.list(databases[tenant.mode], beforeId === null ? filter : { ...filter, beforeId });
    },

    /** Tries one again now, also one that was given up or had arrived. */
    async retry(tx: Queryable, tenant: Tenant, id: string): Promise<Delivery> {
      const key = { tenantId: tenant.id, id };
      const { endpointId } = found(await queue.find(tx, key));
      const endpoint = await findEndpoint(tx, { tenantId: tenant.id, id: endpointId });
      if (endpoint === undefined) throw errors.state_conflict({ detail: 'The endpoint was deleted.' });
      refuseDisabled(endpoint);
      return found(await queue.retry(tx, key));
    },

    /** They stay what they are, under another owner; what was on its way to them is left behind and reaches nobody. */
    async moveEndpoints(tx: Queryable, from: Tenant, to: Tenant): Promise<void> {
      for (const endpoint of await lockEndpoints(tx, from.id)) {
        const moved = { tenantId: to.id, id: endpoint.id };
        const secretsSealed = vault.seal(moved, vault.openUnlessLost(endpoint, endpoint.secretsSealed));
        await moveEndpoint(tx, endpoint, { tenantId: to.id, secretsSealed });
      }
    },

    /** Where endpoints that are switched on are by now; nobody changes them until the transaction ends. */
    async lockAddresses(tx: Queryable, refs: readonly EndpointRef[]): Promise<EndpointAddress[]> {
      const endpoints = await lockEnabledEndpoints(tx, refs.map(keyOf));
      return endpoints.map(({ tenantId, id, url }) => ({ tenantId, endpointId: id, url }));
    },

    /** The dispatcher gave up on an endpoint: switches it off and tells the others. */
    async disable(tx: Queryable, ref: EndpointRef, reason: DisableReason): Promise<void> {
      const endpoint = await lockEndpoint(tx, keyOf(ref));
      if (endpoint === undefined || endpoint.status === 'disabled') return;
      const disabled: WebhookEndpoint = {
        ...endpoint,
        status: 'disabled',
        disabledReason: reason,
        updatedAt: now(),
      };
      await updateEndpoint(tx, disabled);
      await deps.events.record(tx, [eventOf('webhook_endpoint.disabled', disabled)]);
      const { organisationId, mode } = parseTenantId(endpoint.tenantId);
      const isGone = reason === 'gone';
      await deps.notices.plan(tx, organisationId, {
        ...{ kind: 'webhook_endpoint_disabled', endpointId: endpoint.id, mode, isGone },
      });
    },
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;

function refusedUrl({ reason: code, detail }: { reason: string; detail: string }): FieldError {
  return { pointer: '/url', code, detail: `Refused: ${detail}.` };
}

function keyOf({ tenantId, endpointId }: EndpointRef): EndpointKey {
  return { tenantId, id: endpointId };
}

function patched(endpoint: WebhookEndpoint, patch: EndpointPatch, at: Date): WebhookEndpoint {
  const status = patch.status ?? endpoint.status;
  return {
    ...endpoint,
    url: patch.url ?? endpoint.url,
    events: patch.events ?? endpoint.events,
    description: patch.description === undefined ? endpoint.description : patch.description,
    status,
    disabledReason: status === 'enabled' ? null : (endpoint.disabledReason ?? 'manual'),
    updatedAt: at,
  };
}

function refuseDisabled(endpoint: WebhookEndpoint): void {
  if (endpoint.status === 'disabled') {
    throw errors.state_conflict({ detail: 'The endpoint is disabled; enable it first.' });
  }
}

/** Deliveries are made in the transaction of their event, which ends within a minute or so; ids ascend with time. */
const AFTER_EVENT_MS_MAX = 2 * 60_000;

function deliveryIdsOf(eventId: string): { fromId: string; beforeId: string } | undefined {
  const madeMs = idTimeMs(eventId);
  if (madeMs === undefined) return undefined;
  const idAt = (ms: number) => newIdAt('dlv', ms, (bytes) => Buffer.alloc(bytes));
  return { fromId: idAt(madeMs), beforeId: idAt(madeMs + AFTER_EVENT_MS_MAX) };
}

function notFound(): Error {
  return errors.not_found({ detail: 'There is no such webhook endpoint.' });
}

function noDelivery(): Error {
  return errors.not_found({ detail: 'There is no such delivery.' });
}

function found(delivery: Delivery | undefined): Delivery {
  if (delivery === undefined) throw noDelivery();
  return delivery;
}
