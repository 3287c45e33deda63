import { PaymentsError } from '../errors.ts';
import type { Event } from '../event-types.ts';
import type { EventType } from '../types.ts';
import { type Command, type Context, LiveKeyError, textValue, UsageError } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { forward, readTarget } from './forward.ts';
import { eventLine } from './output.ts';
import { programOf } from './program.ts';
import { listenerName, listenSecret, readPosition, writePosition } from './settings-file.ts';

/** Beyond this, receivers that hold the usual five minutes begin to refuse. */
const CLOCK_OFF_MS_MAX = 4 * 60_000;

export const listen: Command = {
  words: ['listen'],
  summary: 'Print the events of your test mode as they happen, or forward them to a local address',
  positionals: [],
  options: {
    'forward-to': { type: 'string', value: 'address', help: 'post each event there, signed like a webhook' },
    events: { type: 'string', value: 'types', help: 'only these types, with commas between them' },
    'from-now': { type: 'boolean', help: 'do not go on where the last listen ended' },
    'print-secret': { type: 'boolean', help: 'print the secret that your code verifies with, and end' },
  },
  async run(context) {
    if (context.values['print-secret']) {
      context.out(listenSecret(context.env));
      return exitCodes.ok;
    }
    await listenOn(context, readListener(context));
    return exitCodes.ok;
  },
};

interface Listener {
  name: string;
  target: string | undefined;
  types: readonly string[] | undefined;
  after: string | undefined;
}

function readListener(context: Context): Listener {
  const { apiKey, baseUrl } = context.connection();
  // Made first: without a key it says how to get one.
  context.client();
  if (apiKey.startsWith('sk_live_')) {
    throw new LiveKeyError(
      'listen takes a test key (sk_test_…): events of live payments go to webhook endpoints',
    );
  }
  const given = textValue(context.values, 'forward-to');
  const target = given === undefined ? undefined : readTarget(given);
  const name = listenerName([apiKey, baseUrl ?? '', target ?? '']);
  const after = context.values['from-now'] ? undefined : readPosition(context.env, name);
  return { name, target, types: readTypes(textValue(context.values, 'events')), after };
}

const eventTypes: Readonly<Record<EventType, true>> = {
  'payment.pending': true,
  'payment.processing': true,
  'payment.completed': true,
  'payment.failed': true,
  'payment.returned': true,
  'payment.canceled': true,
  'payment.rerouted': true,
  'payment.owed': true,
  'payment_method.created': true,
  'payment_method.updated': true,
  'payment_method.deleted': true,
  'webhook_endpoint.test': true,
  'webhook_endpoint.disabled': true,
};

/** A type that is written wrongly would fit no event, and the next listen goes on behind those that were left out. */
function readTypes(given: string | undefined): string[] | undefined {
  const types = given?.split(',').map((type) => type.trim());
  const unknown = types?.find((type) => !Object.hasOwn(eventTypes, type));
  if (unknown === undefined) return types;
  throw new UsageError(`--events has no type "${unknown}"; there are ${Object.keys(eventTypes).join(', ')}`);
}

async function listenOn(context: Context, listener: Listener): Promise<void> {
  const { env, err, signal } = context;
  if (listener.target !== undefined) {
    err(`Forwarding to ${listener.target}. Your code verifies with: ${programOf(env)} listen --print-secret`);
  }
  err(
    listener.after === undefined
      ? 'Listening from now on.'
      : `Going on after ${listener.after || 'the beginning'}.`,
  );
  const secret = listener.target === undefined ? '' : listenSecret(env);
  try {
    for await (const event of open(context, listener)) {
      if (listener.types === undefined || listener.types.includes(event.type)) {
        // Interrupted on its way: the next listen begins with it.
        if (!(await passOn(context, listener, event, secret))) return;
      }
      // After it was passed on: whoever dies in between sees an event twice, never not at all.
      writePosition(env, listener.name, event.id);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function* open(context: Context, listener: Listener): AsyncGenerator<Event> {
  const { events } = context.client();
  const stream = (lastEventId: string | undefined) =>
    events.stream({
      lastEventId,
      signal: context.signal,
      onConnect({ date }) {
        context.err('Connected.');
        warnOfClock(context, date);
      },
      onReconnect: (error) => context.err(`${error.message} Trying again …`),
    });
  // Kept before anything is heard: whoever is started again before the first event still knows where it began.
  const keepBeginning = async () => {
    const [newest] = (await events.list({ limit: 1 }, { signal: context.signal }).page()).data;
    writePosition(context.env, listener.name, newest?.id ?? '');
  };
  if (listener.after === undefined) await keepBeginning();
  try {
    yield* stream(listener.after);
  } catch (error) {
    if (!(error instanceof PaymentsError) || error.code !== 'last_event_unknown') throw error;
    context.err(
      `Cannot go on after ${listener.after || 'the beginning'}: ${error.message} Listening from now on.`,
    );
    await keepBeginning();
    yield* stream(undefined);
  }
}

/** Whether there was an end of it, good or bad. */
async function passOn(
  context: Context,
  { target }: Listener,
  event: Event,
  secret: string,
): Promise<boolean> {
  if (target === undefined) {
    context.out(context.json ? JSON.stringify(event) : eventLine(event));
    return true;
  }
  const { delivered, outcome } = await forward(event, target, secret, context.signal);
  if (!delivered && context.signal.aborted) return false;
  context.out(
    context.json
      ? JSON.stringify({ event: event.id, type: event.type, outcome })
      : `${eventLine(event)}  → ${outcome}`,
  );
  return true;
}

function warnOfClock({ err }: Context, date: string | undefined): void {
  const serverMs = Date.parse(date ?? '');
  const offMs = Date.now() - serverMs;
  if (Number.isNaN(serverMs) || Math.abs(offMs) <= CLOCK_OFF_MS_MAX) return;
  const minutes = Math.round(Math.abs(offMs) / 60_000);
  const side = offMs > 0 ? 'ahead of' : 'behind';
  err(
    `This machine's clock is ${minutes} min ${side} the server's: signatures will be refused until it is set right.`,
  );
}
