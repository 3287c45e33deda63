import { type PaymentsOptions, readSettings } from './config.ts';
import { HttpClient } from './request.ts';
import { EventsResource } from './resources/events.ts';
import { FeesResource } from './resources/fees.ts';
import { LedgerResource } from './resources/ledger.ts';
import { PaymentMethodsResource } from './resources/payment-methods.ts';
import { PaymentsResource } from './resources/payments.ts';
import { SandboxResource } from './resources/sandbox.ts';
import { WebhookDeliveriesResource } from './resources/webhook-deliveries.ts';
import { WebhookEndpointsResource } from './resources/webhook-endpoints.ts';
import { webhooks } from './webhooks.ts';

/** A client of the Payments API. Make one and keep it: it holds settings and no state. */
export class Payments {
  readonly #options: PaymentsOptions;
  readonly payments: PaymentsResource;
  readonly paymentMethods: PaymentMethodsResource;
  readonly webhookEndpoints: WebhookEndpointsResource;
  readonly webhookDeliveries: WebhookDeliveriesResource;
  readonly events: EventsResource;
  readonly ledger: LedgerResource;
  readonly fees: FeesResource;
  readonly sandbox: SandboxResource;
  readonly webhooks: typeof webhooks = webhooks;

  constructor(options: PaymentsOptions = {}) {
    this.#options = { ...options };
    const http = new HttpClient(readSettings(options));
    this.payments = new PaymentsResource(http);
    this.paymentMethods = new PaymentMethodsResource(http);
    this.webhookEndpoints = new WebhookEndpointsResource(http);
    this.webhookDeliveries = new WebhookDeliveriesResource(http);
    this.events = new EventsResource(http);
    this.ledger = new LedgerResource(http);
    this.fees = new FeesResource(http);
    this.sandbox = new SandboxResource(http);
  }

  /** The same client with some settings changed. */
  withOptions(options: PaymentsOptions): Payments {
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    return new Payments({ ...this.#options, ...Object.fromEntries(given) });
  }
}
