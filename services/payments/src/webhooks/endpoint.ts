import { type EventType, eventTypes, type PaymentsEvent } from '../events/event.ts';

/** Stands for every type of event, also those that come later. */
export const ALL_EVENTS = '*';
export const eventChoices = [ALL_EVENTS, ...eventTypes] as const;
export type EventChoice = typeof ALL_EVENTS | EventType;

/** `gone`: it answered 410. `failing`: it only failed for days. `manual`: its owner switched it off. */
export type DisabledReason = 'gone' | 'failing' | 'manual';

export interface WebhookEndpoint {
  tenantId: string;
  id: string;
  url: string;
  events: readonly EventChoice[];
  description: string | null;
  status: 'enabled' | 'disabled';
  disabledReason: DisabledReason | null;
  secretsSealed: Buffer;
  createdAt: Date;
  updatedAt: Date;
}

/** A secret that signs until its end, or without one. */
export interface SigningSecret {
  secret: string;
  expiresAt: Date | null;
}

export function validSecrets(secrets: readonly SigningSecret[], at: Date): SigningSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
}

/** What delivering needs to know of an endpoint. */
export interface Subscription {
  endpointId: string;
  events: readonly string[];
}

/** By tenant id. */
export type Subscriptions = ReadonlyMap<string, readonly Subscription[]>;

/** Those who are told of an event. A test concerns one endpoint, and is sent to that one alone, elsewhere. */
export function subscribersOf(subscriptions: Subscriptions, event: PaymentsEvent): Subscription[] {
  if (event.type === 'webhook_endpoint.test') return [];
  const ofTenant = subscriptions.get(event.tenantId) ?? [];
  return ofTenant.filter(({ events }) => events.includes(ALL_EVENTS) || events.includes(event.type));
}

export function endpointToApi(endpoint: WebhookEndpoint) {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint' as const,
    url: endpoint.url,
    events: [...endpoint.events],
    description: endpoint.description,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}
