import type { EventType, WebhookDelivery, WebhookEndpoint } from '../types.ts';
import { type Command, type Context, LiveKeyError, textValue, wholeNumber } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { forward, readTarget } from './forward.ts';
import { eventTable } from './output.ts';
import { listenSecret } from './settings-file.ts';

const ENDPOINTS_MAX = 100;

const list: Command = {
  words: ['events', 'list'],
  summary: 'List events, newest first',
  positionals: [],
  options: {
    type: { type: 'string', value: 'type', help: 'only these, for example payment.completed' },
    object: { type: 'string', value: 'id', help: 'only of this payment, method or endpoint' },
    limit: { type: 'string', value: 'number', help: '20 by default' },
    cursor: { type: 'string', value: 'cursor', help: 'next_cursor of the page before' },
  },
  async run(context) {
    const { values } = context;
    const type = textValue(values, 'type') as EventType | undefined;
    const object = textValue(values, 'object');
    const limit = wholeNumber(values, 'limit', { least: 1, most: 100 });
    const cursor = textValue(values, 'cursor');
    const filters = {
      ...(type === undefined ? {} : { type }),
      ...(object === undefined ? {} : { object_id: object }),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const found = context.client().events.list(filters, { signal: context.signal });
    const page = await found.page();
    context.out(context.json ? JSON.stringify(page, null, 2) : eventTable(page.data));
    if (!context.json && page.next_cursor !== null)
      context.err(`There are more: --cursor ${page.next_cursor}`);
    return undefined;
  },
};

const resend: Command = {
  words: ['events', 'resend'],
  summary: 'Send an event again: to the webhook endpoints that got it, or to a local address',
  positionals: ['event'],
  options: {
    'forward-to': { type: 'string', value: 'address', help: 'post it there, signed as `listen` signs' },
    endpoint: { type: 'string', value: 'we_…', help: 'only to this endpoint' },
  },
  async run(context) {
    const id = context.positionals[0] as string;
    const given = textValue(context.values, 'forward-to');
    return given === undefined ? resendToEndpoints(context, id) : resendTo(context, id, readTarget(given));
  },
};

async function resendTo(context: Context, id: string, target: string): Promise<number> {
  const { apiKey } = context.connection();
  if (apiKey.startsWith('sk_live_')) throw new LiveKeyError('--forward-to takes a test key (sk_test_…)');
  const { signal } = context;
  const event = await context.client().events.get(id, { signal });
  const { delivered, outcome } = await forward(event, target, listenSecret(context.env), signal);
  signal.throwIfAborted();
  context.out(
    context.json ? JSON.stringify({ event: id, target, outcome }) : `${id} → ${target}: ${outcome}`,
  );
  return delivered ? exitCodes.ok : exitCodes.failed;
}

async function resendToEndpoints(context: Context, id: string): Promise<number> {
  await context.client().events.get(id, { signal: context.signal });
  const sent: WebhookDelivery[] = [];
  let skipped = 0;
  try {
    for (const endpoint of await endpointsOf(context)) {
      const outcome = await resendToEndpoint(context, id, endpoint);
      if (outcome === 'disabled') skipped += 1;
      else if (outcome !== undefined) sent.push(outcome);
    }
  } finally {
    // Also where a later one was refused: what is on its way stays so.
    if (context.json) context.out(JSON.stringify(sent, null, 2));
  }
  if (sent.length > 0) return exitCodes.ok;
  if (skipped > 0) {
    context.err(
      `Every webhook endpoint that got ${id} is disabled: enable one, or name a local address with --forward-to.`,
    );
    return exitCodes.failed;
  }
  context.err(`No webhook endpoint got ${id}: name a local address with --forward-to.`);
  return exitCodes.notFound;
}

/** The one that was named, whatever its state, which the server judges; or all. */
async function endpointsOf(context: Context): Promise<{ id: string; status?: WebhookEndpoint['status'] }[]> {
  const named = textValue(context.values, 'endpoint');
  if (named !== undefined) return [{ id: named }];
  const all = context.client().webhookEndpoints.list({ limit: 100 }, { signal: context.signal });
  return all.toArray({ limit: ENDPOINTS_MAX });
}

/** Undefined where the endpoint never got the event. */
async function resendToEndpoint(
  context: Context,
  id: string,
  endpoint: { id: string; status?: WebhookEndpoint['status'] },
): Promise<WebhookDelivery | 'disabled' | undefined> {
  const { webhookEndpoints, webhookDeliveries } = context.client();
  const { signal } = context;
  const { data } = await webhookEndpoints
    .deliveries(endpoint.id, { event_id: id, limit: 1 }, { signal })
    .page();
  const [found] = data;
  if (found === undefined) return undefined;
  if (endpoint.status === 'disabled') {
    context.err(`${id} → ${endpoint.id}: skipped, since the endpoint is disabled`);
    return 'disabled';
  }
  const delivery = await webhookDeliveries.retry(found.id, { signal });
  if (!context.json) context.out(`${id} → ${delivery.endpoint_id}: on its way (${delivery.id})`);
  return delivery;
}

export const eventCommands: readonly Command[] = [list, resend];
