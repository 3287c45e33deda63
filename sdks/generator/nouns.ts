// Where the API's nouns stand in its document; what their parts are called is said there.
import type { Names, Place } from './shapes.ts';

const at = (name: string, operation: string, status: string): Place => ({
  name,
  operation,
  part: { status },
});
const itemsOf = (name: string, operation: string): Place => ({
  name,
  operation,
  part: { status: '200', items: true },
});
const bodyOf = (name: string, operation: string): Place => ({ name, operation, part: 'body' });

/** What the API answers with. */
export const answers: readonly Place[] = [
  at('Payment', 'POST /v1/payments', '202'),
  at('Quote', 'POST /v1/payments/quote', '200'),
  itemsOf('RailMessage', 'GET /v1/payments/{id}/messages'),
  at('PaymentMethod', 'POST /v1/payment_methods', '201'),
  at('ApiEvent', 'GET /v1/events/{id}', '200'),
  at('WebhookEndpoint', 'GET /v1/webhook_endpoints/{id}', '200'),
  at('WebhookEndpointWithSecret', 'POST /v1/webhook_endpoints', '201'),
  at('WebhookDelivery', 'POST /v1/webhook_deliveries/{id}/retry', '202'),
  itemsOf('LedgerAccount', 'GET /v1/ledger/accounts'),
  itemsOf('LedgerEntry', 'GET /v1/ledger/entries'),
  at('LedgerCheck', 'GET /v1/ledger/check', '200'),
  at('Fees', 'GET /v1/fees', '200'),
  at('SandboxClock', 'GET /v1/sandbox/clock', '200'),
  at('SandboxReset', 'POST /v1/sandbox/reset', '200'),
];

/** What is sent to it. */
export const bodies: readonly Place[] = [
  bodyOf('CreatePayment', 'POST /v1/payments'),
  bodyOf('CreateRefund', 'POST /v1/payments/{id}/refunds'),
  bodyOf('CreatePaymentMethod', 'POST /v1/payment_methods'),
  bodyOf('CreateWebhookEndpoint', 'POST /v1/webhook_endpoints'),
  bodyOf('UpdateWebhookEndpoint', 'PATCH /v1/webhook_endpoints/{id}'),
];

/** Parts have the names of the document. In Python what is sent is a dictionary, and what comes back an object of another name. */
export const pythonAnswerNames: Names = {
  'Payment.source': 'MethodSide',
  'Payment.destination': 'MethodSide',
};
