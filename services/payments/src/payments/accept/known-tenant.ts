import type { SandboxClock } from '../../clock/clock.ts';
import type { MethodKey, PaymentMethod } from '../../payment-methods/method.ts';
import type { Tenant } from '../../tenant.ts';
import type { Subscription } from '../../webhooks/endpoint.ts';

/** A payment method as far as routing asks. */
export interface MethodSummary extends MethodKey {
  type: PaymentMethod['type'];
  railsSend: PaymentMethod['railsSend'];
  railsReceive: PaymentMethod['railsReceive'];
  isDeleted: boolean;
}

/** What accepting remembers of a tenant, as of one version of it. */
export interface KnownTenant {
  readonly version: number;
  /** What the organisation's test mode has come to; a tenant of an earlier epoch takes no payments. */
  readonly testEpoch: number;
  readonly clock: SandboxClock;
  readonly subscriptions: readonly Subscription[];
  /** Those that were asked for, by id. That a method is missing is never remembered. */
  readonly methods: Map<string, MethodSummary>;
}

export type KnownTenants = ReadonlyMap<string, KnownTenant>;

export interface ContextQuestion {
  tenant: Tenant;
  methodIds: ReadonlySet<string>;
}
