import type { SandboxResource } from '../resources/sandbox.ts';
import type { Payment } from '../types.ts';
import { type Command, textValue, UsageError, wholeNumber } from './command.ts';
import { fields, money, paymentFields } from './output.ts';

const AMOUNT_MAX = 9_999_999_999;

const clock: Command = {
  words: ['sandbox', 'clock'],
  summary: 'Show the sandbox clock, stop it, move it on, or let it run',
  positionals: [],
  options: {
    now: { type: 'string', value: 'time', help: 'stop it at this moment: 2026-11-16T15:00:00Z' },
    advance: { type: 'string', value: 'duration', help: 'move it on by this much: P3D, PT2H' },
    free: { type: 'boolean', help: 'let it run on' },
  },
  async run(context) {
    const { values } = context;
    const [moment, advance] = [textValue(values, 'now'), textValue(values, 'advance')];
    if ([moment, advance, values.free].filter((given) => given !== undefined).length > 1) {
      throw new UsageError('Give one of --now, --advance and --free');
    }
    const { sandbox } = context.client();
    const { signal } = context;
    if (values.free) await sandbox.freeClock({ signal });
    const clockNow =
      moment !== undefined
        ? await sandbox.setClock(moment, { signal })
        : advance !== undefined
          ? await sandbox.advanceClock(advance, { signal })
          : await sandbox.getClock({ signal });
    context.out(
      context.json
        ? JSON.stringify(clockNow, null, 2)
        : fields([
            ['state', clockNow.state],
            ['now', clockNow.now],
          ]),
    );
    return undefined;
  },
};

const fund: Command = {
  words: ['sandbox', 'fund'],
  summary: 'Put test money into a balance',
  positionals: ['payment-method'],
  optional: 'amount',
  options: { amount: { type: 'string', value: 'number', help: 'in minor units: 2500 is 25.00' } },
  async run(context) {
    const [id, given] = context.positionals as [string, string?];
    const amount = given ?? textValue(context.values, 'amount');
    const cents = wholeNumber({ amount }, 'amount', { least: 1, most: AMOUNT_MAX });
    if (cents === undefined) throw new UsageError('--amount is missing');
    const method = await context.client().sandbox.fund(id, cents, { signal: context.signal });
    const { balance } = method;
    const shown = fields([
      ['id', method.id],
      ['available', balance && money(balance.available, balance.currency)],
      ['pending', balance && money(balance.pending, balance.currency)],
    ]);
    context.out(context.json ? JSON.stringify(method, null, 2) : shown);
    return undefined;
  },
};

const code = { type: 'string', value: 'code', help: "the network's code, for example R01" } as const;

function outcome(
  name: string,
  summary: string,
  withCode: boolean,
  force: (
    sandbox: SandboxResource,
    id: string,
    code: string | undefined,
    options: { signal: AbortSignal },
  ) => Promise<Payment>,
): Command {
  return {
    words: ['sandbox', name],
    summary,
    positionals: ['payment'],
    ...(withCode ? { optional: 'code' } : {}),
    options: withCode ? { code } : {},
    async run(context) {
      const [id, given] = context.positionals as [string, string?];
      const by = given ?? textValue(context.values, 'code');
      const payment = await force(context.client().sandbox, id, by, { signal: context.signal });
      context.out(context.json ? JSON.stringify(payment, null, 2) : paymentFields(payment));
      return undefined;
    },
  };
}

const reset: Command = {
  words: ['sandbox', 'reset'],
  summary: 'Begin test mode anew; keys and webhook endpoints stay',
  positionals: [],
  options: { yes: { type: 'boolean', help: 'do not ask' } },
  async run(context) {
    // A script knows what it does; a person may have meant another command.
    if (context.stdin.isTTY && !context.values.yes) {
      throw new UsageError('This removes all payments of test mode: add --yes if that is meant');
    }
    const done = await context.client().sandbox.reset({ signal: context.signal });
    context.out(context.json ? JSON.stringify(done, null, 2) : 'Test mode is empty again.');
    return undefined;
  },
};

export const sandboxCommands: readonly Command[] = [
  clock,
  fund,
  outcome('settle', 'Settle a payment now', false, (sandbox, id, _by, options) =>
    sandbox.settle(id, options),
  ),
  outcome('reject', 'Have the network refuse a payment', true, (sandbox, id, by, options) =>
    sandbox.reject(id, by, options),
  ),
  outcome('return', 'Return an ACH payment', true, (sandbox, id, by, options) =>
    sandbox.return_(id, by ?? 'R01', options),
  ),
  reset,
];
