import type { List, Page } from '../pagination.ts';
import type { WriteOptions } from '../request.ts';
import type { CreatePayment, CreateRefund, Payment, PaymentStatus, Rail } from '../types.ts';
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
import { follow, readSeconds, timeoutOption } from './follow.ts';
import { paymentFields, paymentTable } from './output.ts';
import { payOnce } from './paying-once.ts';

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
  timeout: timeoutOption,
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

function descriptionAndMetadata(values: Values) {
  const description = textValue(values, 'description');
  const metadata = pairs(values, 'metadata');
  return {
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Sends a new payment, and shows it or follows it. */
async function pay(
  context: Context,
  send: (options: WriteOptions) => Promise<Payment>,
): Promise<number | undefined> {
  // Read before anything is sent: what cannot be meant is refused while it costs nothing.
  const seconds = readSeconds(context.values);
  const payment = await payOnce(context, send);
  if (context.values.wait) return follow(context, payment, { wanted: ['completed'], seconds });
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
    const { payments } = context.client();
    return pay(context, (options) => payments.create(body, options));
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

/** As many whole pages as the bound allows, so that the cursor of the last one goes on right after what is shown. */
async function pagesAsOne(list: List<Payment>): Promise<Page<Payment>> {
  const data: Payment[] = [];
  let next_cursor: string | null = null;
  for await (const page of list.pages()) {
    data.push(...page.data);
    next_cursor = page.next_cursor;
    if (data.length + page.data.length > LISTED_MAX) break;
  }
  return { object: 'list', data, next_cursor };
}

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
    const page = values.all ? await pagesAsOne(found) : await found.page();
    context.out(context.json ? JSON.stringify(page, null, 2) : paymentTable(page.data));
    // Who asks for all and reads JSON is told, too: nobody looks there for a cursor.
    if (page.next_cursor !== null && (values.all || !context.json))
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
    timeout: timeoutOption,
  },
  async run(context) {
    const { client, positionals, signal, values } = context;
    const wait = { wanted: [oneOf(context, 'until', STATUSES) ?? 'completed'], seconds: readSeconds(values) };
    // The first look fails as `get` does: where it never succeeds, the address is wrong rather than a server restarting.
    return follow(context, await client().payments.get(positionals[0] as string, { signal }), wait);
  },
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
    const { payments } = client();
    return pay(context, (options) => payments.refund(id, body, options));
  },
};

export const paymentCommands: readonly Command[] = [create, get, list, watch, cancel, refund];
