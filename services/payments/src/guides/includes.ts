import { errorsMarkdown, markdownTable } from '@libs/docs';
import { BODY_LIMIT_BYTES, JSON_LIMITS, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '@libs/http';
import { apiVersions } from '../api-version.ts';
import type { PaymentsConfig } from '../config.ts';
import { errors } from '../errors.ts';
import { EVENT_RETENTION_DAYS, type EventType, eventTypes } from '../events/event.ts';
import { RESUME_HOURS, STREAMS_PER_KEY_MAX, STREAMS_PER_TENANT_MAX } from '../events/stream.ts';
import { KEY_LENGTH_MAX } from '../idempotency/key.ts';
import { KEY_RETENTION_DAYS } from '../idempotency/service.ts';
import { SANDBOX_TOKEN, type Scope, scopes } from '../keys/key.ts';
import { AMOUNT_MAX } from '../payments/payment.ts';
import { DESCRIPTION_LENGTH_MAX, METADATA_LIMITS, METHOD_ID_LENGTH_MAX } from '../payments/schemas.ts';
import { CLOCK_AHEAD_YEARS_MAX } from '../sandbox/service.ts';
import { deliveryRules, ENDPOINTS_MAX, ROTATION_OVERLAP_MS } from '../webhooks/rules.ts';
import { asCode, inNumbers, inWords } from './figures.ts';
import { networkCodeIncludes } from './network-codes.ts';
import { railIncludes } from './rails.ts';
import { methodsTable } from './samples.ts';
import { sandboxIncludes } from './sandbox.ts';
import { settingsTable } from './settings.ts';
import { stateIncludes } from './states.ts';

/** What each event tells; one that is new does not compile until somebody has said it. */
const eventMeanings: Readonly<Record<EventType, string>> = {
  'payment.pending': 'A payment was accepted.',
  'payment.processing': 'It was handed to its rail.',
  'payment.completed': 'The money has arrived.',
  'payment.failed': 'It failed, and nobody was paid; `failure` says why.',
  'payment.returned':
    'A bank, of its source or of its destination, sent the payment back after it was completed.',
  'payment.canceled': 'It was canceled before it left.',
  'payment.owed':
    'It had failed and was refunded, and then its debit came back too: its source owes the amount.',
  'payment.rerouted': 'One rail refused it, and another one carries it now.',
  'payment_method.created': 'A payment method was stored.',
  'payment_method.updated':
    'A bank corrected the details of an account, or a late return opened a deleted balance again.',
  'payment_method.deleted': 'A payment method was deleted.',
  'webhook_endpoint.test': 'You asked for a test; it goes to that one endpoint.',
  'webhook_endpoint.disabled': 'An endpoint was switched off; `disabled_reason` says why.',
};

const scopeMeanings: Readonly<Record<Scope, string>> = {
  'payments:read': 'Read payments, messages and the sandbox clock.',
  'payments:write': 'Create, cancel and refund payments; ask for quotes; use the sandbox.',
  'payment_methods:read': 'Read payment methods and balances.',
  'payment_methods:write': 'Store and delete payment methods.',
  'webhooks:read': 'Read endpoints and their deliveries.',
  'webhooks:write': 'Make, change and test endpoints; send a delivery again.',
  'events:read': 'Read events, and listen to them as they happen.',
  'ledger:read': 'Read the ledger and the fees.',
};

function limitsTable({ rates }: PaymentsConfig): string {
  const rate = (perSecond: number) =>
    perSecond === 0
      ? 'no limit here'
      : `${inNumbers(perSecond)} a second, bursts of ${inNumbers(2 * perSecond)}`;
  return markdownTable(
    ['What', 'Limit', 'Beyond it'],
    [
      ['Requests of a live key', rate(rates.live), '[`rate_limited`](errors.md#rate_limited)'],
      ['Requests of a test key', rate(rates.test), '[`rate_limited`](errors.md#rate_limited)'],
      [
        'Amount of a payment',
        `1 to ${inNumbers(AMOUNT_MAX)} minor units`,
        '[`amount_too_large`](errors.md#amount_too_large)',
      ],
      ['Body of a request', `${BODY_LIMIT_BYTES / 1024} KiB`, '[`body_too_large`](errors.md#body_too_large)'],
      ['Values of a body', inNumbers(JSON_LIMITS.valuesMax), '[`body_too_large`](errors.md#body_too_large)'],
      ['Depth of a body', `${JSON_LIMITS.depthMax} levels`, '[`invalid_json`](errors.md#invalid_json)'],
      [
        '`Idempotency-Key`',
        `1 to ${KEY_LENGTH_MAX} printable ASCII characters, kept ${KEY_RETENTION_DAYS} days`,
        '[`idempotency_key_invalid`](errors.md#idempotency_key_invalid)',
      ],
      [
        '`description`',
        `${DESCRIPTION_LENGTH_MAX} characters`,
        '[`invalid_request`](errors.md#invalid_request)',
      ],
      [
        '`metadata`',
        `${METADATA_LIMITS.pairsMax} pairs, keys of ${METADATA_LIMITS.keyLengthMax} and values of ${METADATA_LIMITS.valueLengthMax} characters`,
        '[`invalid_request`](errors.md#invalid_request)',
      ],
      [
        'Id of a payment method',
        `${METHOD_ID_LENGTH_MAX} characters`,
        '[`invalid_request`](errors.md#invalid_request)',
      ],
      [
        'Items of a page',
        `1 to ${PAGE_LIMIT_MAX}, ${PAGE_LIMIT_DEFAULT} by default`,
        '[`invalid_query`](errors.md#invalid_query)',
      ],
      [
        'Webhook endpoints of an organisation',
        inNumbers(ENDPOINTS_MAX),
        '[`limit_reached`](errors.md#limit_reached)',
      ],
      [
        'Event streams of a key, and of an organisation in one mode',
        `${inNumbers(STREAMS_PER_KEY_MAX)}, and ${inNumbers(STREAMS_PER_TENANT_MAX)}`,
        '[`too_many_streams`](errors.md#too_many_streams)',
      ],
      [
        'Resuming an event stream',
        `${RESUME_HOURS} hours back`,
        '[`last_event_unknown`](errors.md#last_event_unknown)',
      ],
      ['Events in the list', `${EVENT_RETENTION_DAYS} days`, 'they are gone'],
      [
        'Sandbox clock',
        `${CLOCK_AHEAD_YEARS_MAX} years ahead of real time`,
        '[`clock_too_far`](errors.md#clock_too_far)',
      ],
    ],
  );
}

function retryTable(): string {
  let total = 0;
  const rows = deliveryRules.retryDelaysMs.map((delayMs, at) => {
    total += delayMs;
    const hours = total / 3_600_000;
    const since = hours < 1 ? inWords(Math.round(total / 1_000) * 1_000) : `${hours.toFixed(1)} hours`;
    return [String(at + 2), inWords(delayMs), since];
  });
  return markdownTable(['Try', 'Waits', 'After the first, about'], [['1', 'nothing', '0'], ...rows]);
}

/** Everything that the guides take from the code, by the name that stands in their `{{…}}`. */
export function paymentsIncludes(config: PaymentsConfig): Record<string, string> {
  return {
    errors: errorsMarkdown(errors),
    events: markdownTable(
      ['Type', 'Tells'],
      eventTypes.map((type) => [asCode(type), eventMeanings[type]]),
    ),
    scopes: markdownTable(
      ['Scope', 'Allows'],
      scopes.map((scope) => [asCode(scope), scopeMeanings[scope]]),
    ),
    limits: limitsTable(config),
    retries: retryTable(),
    delivery_timeout: inWords(deliveryRules.timeoutMs),
    delivery_switch_off: inWords(deliveryRules.disableAfterMs),
    rotation_overlap: inWords(ROTATION_OVERLAP_MS),
    key_days: `${KEY_RETENTION_DAYS} days`,
    event_days: `${EVENT_RETENTION_DAYS} days`,
    resume_hours: `${RESUME_HOURS} hours`,
    sandbox_key: SANDBOX_TOKEN,
    api_versions: markdownTable(
      ['Version', ''],
      apiVersions.map((version, at) => [asCode(version), at === 0 ? 'the newest' : '']),
    ),
    settings: settingsTable(),
    sdk_methods: methodsTable(),
    ...stateIncludes(),
    ...railIncludes(config.rails.ach),
    ...sandboxIncludes(config),
    ...networkCodeIncludes(),
  };
}
