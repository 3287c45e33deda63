import { createClocks } from '../clock/service.ts';
import { createDirectory, readParticipants } from '../payment-methods/directory.ts';
import { registerPaymentMethodRoutes } from '../payment-methods/routes.ts';
import { createPaymentMethods, type PaymentMethods } from '../payment-methods/service.ts';
import { createStrandedBalances } from '../payment-methods/stranded.ts';
import { createPaymentReading, type PaymentReading } from '../payments/reading.ts';
import type { AccessPart } from './access.ts';
import type { Base, Part } from './base.ts';
import type { WebhooksPart } from './webhooks.ts';

export type PaymentMethodsPart = Part & { paymentMethods: PaymentMethods; reading: PaymentReading };

/** Where money comes from and goes to. */
export function addPaymentMethods(
  { database, databases, bank, sealer, newId, now }: Base,
  { access, webhooks: { events } }: { access: Pick<AccessPart, 'keys'>; webhooks: WebhooksPart },
): PaymentMethodsPart {
  const reading = createPaymentReading({ databases });
  const clocks = createClocks({ now });
  const directory = createDirectory(readParticipants(), bank.sponsorRoutingNumbers);
  const paymentMethods = createPaymentMethods({
    ...{ databases, sealer, directory, clocks, events, payments: reading, now, newId },
  });
  const stranded = createStrandedBalances({ database, clocks, reopen: paymentMethods.reopen });
  return {
    ...{ paymentMethods, reading },
    routes: (_app, routes) =>
      registerPaymentMethodRoutes(routes, { methods: paymentMethods, holdTenant: access.keys.holdTenant }),
    handlers: [stranded.handler],
    cron: [stranded.cron],
    close: () => Promise.resolve(),
  };
}
