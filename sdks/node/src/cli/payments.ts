import { sleep } from '../request.ts';
import type { CreatePayment, CreateRefund, Payment, PaymentStatus, Rail } from '../types.ts';
import { isFinal, judge } from '../wait.ts';
import {
  type Command,
  type Context,
  type Option,
  pairs,
  requiredText,
  textValue,
  UsageError,
  type Values,
  wholeNumber,
} from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { paymentFields, paymentTable, printable } from './output.ts';

const STATUSES: readonly PaymentStatus[] = [
  'pending',
  'processing',
  'completed',
  'failed',
  'canceled',
  'returned',
];
const AMOUNT_MAX = 9_999_999_999;
const LISTED_MAX = 10_000;
const WATCH_POLL_MS = 500;
const WATCH_SECONDS = 600;
const WATCH_SECONDS_MAX = 7 * 86_400;

const timeout: Option = {
  type: 'string',
  value: 'seconds',
  help: `how long to wait, ${WATCH_SECONDS} by default`,
};
const amountOption: Option = { type: 'string', value: 'number', help: 'in minor units: 2500 is 25.00' };
/** What a payment and a refund have in common. */
const ofNewPayment = {
  description: { type: 'string', value: 'text', help: 'up to 140 characters' },
  metadata: {
    type: 'string',
    multiple: true,
    value: 'key=value',
    help: 'a pair of your own; may be repeated',
  },
  'idempotency-key': { type: 'string', value: 'key', help: 'of your own, so that a repeat pays once' },
  wait: { type: 'boolean', help: 'follow it until it is completed or has ended' },
  timeout,
} as const satisfies Readonly<Record<string, Option>>;

function oneOf<Value extends string>(
  context: Context,
  name: string,
  choices: readonly Value[],
): Value | undefined {
  const given = textValue(context.values, name);
  if (given === undefined || choices.includes(given as Value)) return given as Value | undefined;
  throw new UsageError(`--${name} must be one of ${choices.join(', ')}`);
}

function show(context: Context, payment: Payment): void {
  context.out(context.json ? JSON.stringify(payment, null, 2) : paymentFields(payment));
}

function writeOptions({ values, signal }: Context) {
  return { idempotencyKey: textValue(values, 'idempotency-key'), signal };
}

function descriptionAndMetadata(values: Values) {
  const description = textValue(values, 'description');
  const metadata = pairs(values, 'metadata');
  return {
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

async function showOrFollow(context: Context, payment: Payment): Promise<number | undefined> {
  if (context.values.wait) return follow(context, payment.id, ['completed']);
  show(context, payment);
  return undefined;
}

const create: Command = {
  words: ['payments', 'create'],
  summary: 'Create a payment',
  positionals: [],
  options: {
    amount: amountOption,
    currency: { type: 'string', value: 'code', help: 'USD by default' },
    source: { type: 'string', value: 'pm_…', help: 'the payment method that pays' },
    destination: { type: 'string', value: 'pm_…', help: 'the payment method that receives' },
    rail: { type: 'string', value: 'rail', help: 'auto by default', choices: ['auto', 'rtp', 'ach'] },
    prefer: {
      type: 'string',
      value: 'what',
      help: 'how auto chooses',
      choices: ['balanced', 'speed', 'cost'],
    },
    ...ofNewPayment,
  },
  async run(context) {
    const { values } = context;
    const amount = wholeNumber(values, 'amount', { least: 1, most: AMOUNT_MAX });
    if (amount === undefined) throw new UsageError('--amount is missing');
    const rail = oneOf(context, 'rail', ['auto', 'rtp', 'ach'] as const);
    const prefer = oneOf(context, 'prefer', ['balanced', 'speed', 'cost'] as const);
    const body: CreatePayment = {
      amount,
      currency: textValue(values, 'currency') ?? 'USD',
      source: { payment_method_id: requiredText(values, 'source') },
      destination: { payment_method_id: requiredText(values, 'destination') },
      ...(rail === undefined ? {} : { rail }),
      ...(prefer === undefined ? {} : { routing: { prefer } }),
      ...descriptionAndMetadata(values),
    };
    return showOrFollow(context, await context.client().payments.create(body, writeOptions(context)));
  },
};

const get: Command = {
  words: ['payments', 'get'],
  summary: 'Show a payment',
  positionals: ['payment'],
  options: {},
  async run(context) {
    const { client, positionals, signal } = context;
    show(context, await client().payments.get(positionals[0] as string, { signal }));
    return undefined;
  },
};

const list: Command = {
  words: ['payments', 'list'],
  summary: 'List payments, newest first',
  positionals: [],
  options: {
    status: { type: 'string', value: 'status', help: 'only these', choices: STATUSES },
    rail: { type: 'string', value: 'rail', help: 'only these', choices: ['rtp', 'ach', 'book'] },
    'payment-method': { type: 'string', value: 'pm_…', help: 'on either side' },
    metadata: {
      type: 'string',
      multiple: true,
      value: 'key=value',
      help: 'only with this pair; may be repeated',
    },
    limit: { type: 'string', value: 'number', help: '20 by default' },
    cursor: { type: 'string', value: 'cursor', help: 'next_cursor of the page before' },
    all: { type: 'boolean', help: `all pages, up to ${LISTED_MAX} payments` },
  },
  async run(context) {
    const { values } = context;
    const status = oneOf(context, 'status', STATUSES);
    const rail = oneOf<Rail>(context, 'rail', ['rtp', 'ach', 'book']);
    const method = textValue(values, 'payment-method');
    const metadata = pairs(values, 'metadata');
    const limit = wholeNumber(values, 'limit', { least: 1, most: 100 }) ?? (values.all ? 100 : undefined);
    const cursor = textValue(values, 'cursor');
    const filters = {
      ...(status === undefined ? {} : { status }),
      ...(rail === undefined ? {} : { rail }),
      ...(method === undefined ? {} : { payment_method: method }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const found = context.client().payments.list(filters, { signal: context.signal });
    const page = values.all
      ? { object: 'list', data: await found.toArray({ limit: LISTED_MAX }), next_cursor: null }
      : await found.page();
    context.out(context.json ? JSON.stringify(page, null, 2) : paymentTable(page.data));
    if (!context.json && page.next_cursor !== null)
      context.err(`There are more: --cursor ${page.next_cursor}`);
    return undefined;
  },
};

const watch: Command = {
  words: ['payments', 'watch'],
  summary: 'Follow a payment until it is completed or has ended',
  positionals: ['payment'],
  options: {
    until: { type: 'string', value: 'status', help: 'completed by default', choices: STATUSES },
    timeout,
  },
  run: (context) =>
    follow(context, context.positionals[0] as string, [oneOf(context, 'until', STATUSES) ?? 'completed']),
};

const cancel: Command = {
  words: ['payments', 'cancel'],
  summary: 'Cancel a payment that is still pending',
  positionals: ['payment'],
  options: {},
  async run(context) {
    const { client, positionals, signal } = context;
    show(context, await client().payments.cancel(positionals[0] as string, { signal }));
    return undefined;
  },
};

const refund: Command = {
  words: ['payments', 'refund'],
  summary: 'Refund a completed payment, all that is left of it or a part',
  positionals: ['payment'],
  options: {
    amount: { ...amountOption, help: `${amountOption.help}; all that is left by default` },
    ...ofNewPayment,
  },
  async run(context) {
    const { client, positionals, values } = context;
    const amount = wholeNumber(values, 'amount', { least: 1, most: AMOUNT_MAX });
    const body: CreateRefund = {
      ...(amount === undefined ? {} : { amount }),
      ...descriptionAndMetadata(values),
    };
    const id = positionals[0] as string;
    return showOrFollow(context, await client().payments.refund(id, body, writeOptions(context)));
  },
};

/** Prints each status as it is entered; in JSON, the whole payment, a line per change. */
async function follow(context: Context, id: string, wanted: readonly PaymentStatus[]): Promise<number> {
  const seconds =
    wholeNumber(context.values, 'timeout', { least: 1, most: WATCH_SECONDS_MAX }) ?? WATCH_SECONDS;
  const endsMs = Date.now() + seconds * 1_000;
  const { payments } = context.client();
  let shown = 0;
  while (true) {
    const payment = await payments.get(id, { signal: context.signal });
    const news = payment.timeline.slice(shown);
    shown = payment.timeline.length;
    if (context.json && news.length > 0) context.out(JSON.stringify(payment));
    else
      for (const { status, timestamp } of news)
        context.out(printable(`${timestamp}  ${status.padEnd(10)}  ${payment.id}`));
    const verdict = judge(payment, wanted);
    if (verdict === 'there') return exitCodes.ok;
    if (verdict === 'pointless' || isFinal(payment.status)) {
      const why = payment.failure === null ? '' : `: ${payment.failure.detail}`;
      context.err(printable(`Payment ${payment.id} is ${payment.status}${why}`));
      return exitCodes.unexpectedStatus;
    }
    if (Date.now() >= endsMs) {
      context.err(`Payment ${payment.id} is still ${payment.status} after ${seconds} s.`);
      return exitCodes.timeout;
    }
    await sleep(WATCH_POLL_MS, context.signal);
  }
}

export const paymentCommands: readonly Command[] = [create, get, list, watch, cancel, refund];
