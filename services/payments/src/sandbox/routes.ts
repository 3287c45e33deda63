import type { Queryable } from '@libs/db';
import type { FieldError } from '@libs/runtime';
import Type from 'typebox';
import { idParams } from '../api-schema.ts';
import type { SandboxClock } from '../clock/clock.ts';
import { errors } from '../errors.ts';
import { momentText, parseMoment } from '../moment.ts';
import { NO_FIELDS, nameMoreFields, type Unchecked } from '../more-fields.ts';
import { MethodSchema } from '../payment-methods/schemas.ts';
import { tooLargeFields } from '../payments/amount.ts';
import { paymentExample } from '../payments/examples.ts';
import { toApi } from '../payments/payment.ts';
import { PaymentSchema } from '../payments/schemas.ts';
import { FORCED_OUTCOMES, type ForcedOutcome } from '../rails/rail.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Tenant } from '../tenant.ts';
import { durationText } from './duration.ts';
import type { SandboxReset } from './reset.ts';
import type { SandboxService } from './service.ts';

export interface SandboxRouteDependencies {
  sandbox: SandboxService;
  resetting: Pick<SandboxReset, 'reset'>;
  showMethod: (tx: Queryable, tenant: Tenant, id: string) => Promise<unknown>;
}

const tags = ['Sandbox'];
const Clock = Type.Object(
  {
    object: Type.Literal('sandbox_clock'),
    state: Type.Union([Type.Literal('real'), Type.Literal('frozen'), Type.Literal('running')]),
    now: Type.String({ format: 'date-time' }),
  },
  {
    title: 'SandboxClock',
    examples: [{ object: 'sandbox_clock', state: 'frozen', now: '2026-11-19T15:04:05.000Z' }],
  },
);
const ClockBody = Type.Object(
  {
    now: Type.Optional(momentText({ description: 'The moment at which the clock shall stand.' })),
    advance: Type.Optional(durationText({ description: 'An ISO 8601 duration, for example P3D.' })),
  },
  { additionalProperties: false, title: 'MoveSandboxClock', examples: [{ advance: 'P3D' }] },
);
const ForceBody = Type.Object(
  {
    code: Type.Optional(
      Type.String({ minLength: 1, maxLength: 10, description: 'The network code, for example R01.' }),
    ),
  },
  { additionalProperties: false, title: 'ForceOutcome' },
);
const FundBody = Type.Object(
  { amount: Type.Integer({ minimum: 1, description: 'Minor units.', examples: [50000] }) },
  { additionalProperties: false, title: 'FundBalance' },
);

const outcomes: Record<ForcedOutcome, { summary: string; description: string; bodyExample: object }> = {
  settle: {
    summary: 'Let a payment settle now',
    description:
      'Takes a pending payment through `processing` to `completed`, as if the network had settled it.',
    bodyExample: {},
  },
  reject: {
    summary: 'Let the network refuse a payment',
    description: 'The payment becomes `failed`; no other rail takes over.',
    bodyExample: {},
  },
  return: {
    summary: 'Let the bank return a payment',
    description:
      'Needs a code such as `R01`. Before it is completed it becomes `failed`, after that `returned`.',
    bodyExample: { code: 'R01' },
  },
  notify_of_change: {
    summary: "Let the bank correct a payment's account",
    description:
      'The code is `C01` unless you give another. The payment goes on; the payment method is corrected, and `payment_method.updated` is sent. Nothing happens before an entry of the payment has left. The same code a second time for the same account changes nothing: the answer is 200, and no event is sent.',
    bodyExample: { code: 'C01' },
  },
};

const Reset = Type.Object(
  { object: Type.Literal('sandbox_reset'), reset_at: Type.String({ format: 'date-time' }) },
  {
    title: 'SandboxReset',
    examples: [{ object: 'sandbox_reset', reset_at: '2026-11-16T15:04:05.000Z' }],
  },
);

function clockToApi({ clock, now }: { clock: SandboxClock; now: Date }) {
  return { object: 'sandbox_clock' as const, state: clock.state, now: now.toISOString() };
}

function parseMove(body: Type.Static<typeof ClockBody>): { now: Date } | { advance: string } {
  const notOne = notOneOf(body);
  if (notOne.length > 0) throw errors.invalid_request({ errors: [...notOne] });
  return body.advance === undefined ? { now: parseMoment(body.now as string) } : { advance: body.advance };
}

function notOneOf({ now, advance }: Unchecked): readonly FieldError[] {
  if ((now === undefined) !== (advance === undefined)) return NO_FIELDS;
  const pointer = now === undefined ? '/now' : '/advance';
  return [{ pointer, code: 'one_of', detail: 'Give either now or advance.' }];
}

export function registerSandboxRoutes(
  routes: PaymentsRoutes,
  { sandbox, resetting, showMethod }: SandboxRouteDependencies,
): void {
  routes.get(
    '/v1/sandbox/clock',
    {
      access: 'test:payments:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'sandbox.get_clock',
        summary: 'Read the clock',
        description:
          '`real`: never set. `frozen`: stands still. `running`: runs on from where it was moved to.',
        tags,
        response: { 200: Clock },
      },
    },
    async ({ caller }) => clockToApi(await sandbox.readClock(caller.tenant)),
  );
  routes.post(
    '/v1/sandbox/clock',
    {
      access: 'test:payments:write',
      rate: 'key',
      audit: { action: 'sandbox.clock_moved' },
      idempotency: 'keyed',
      codes: ['clock_backwards', 'clock_too_far'],
      errorHandler: nameMoreFields(notOneOf),
      schema: {
        operationId: 'sandbox.set_clock',
        summary: 'Freeze or advance the clock',
        description:
          'Give either `now` or `advance`. The clock stands still there, only goes forward, and governs payments: windows, settlement and returns of days happen at once.',
        tags,
        body: ClockBody,
        response: { 200: Clock },
      },
    },
    async (request, tx) => ({
      status: 200,
      body: clockToApi(await sandbox.moveClock(tx, request.caller.tenant, parseMove(request.body))),
    }),
  );
  routes.delete(
    '/v1/sandbox/clock',
    {
      access: 'test:payments:write',
      rate: 'key',
      audit: { action: 'sandbox.clock_freed' },
      idempotency: 'natural',
      schema: {
        operationId: 'sandbox.free_clock',
        summary: 'Let the clock run on',
        description: 'From where it stands; ACH is fast again.',
        tags,
        response: { 204: Type.Null() },
      },
    },
    async ({ caller }, reply) => {
      await sandbox.releaseClock(caller.tenant);
      return reply.code(204).send(null);
    },
  );

  for (const outcome of FORCED_OUTCOMES) {
    routes.post(
      `/v1/sandbox/payments/:id/${outcome}`,
      {
        access: 'test:payments:write',
        rate: 'key',
        audit: { action: `sandbox.${outcome}`, targetParam: 'id' },
        idempotency: 'keyed',
        codes: ['state_conflict'],
        schema: {
          operationId: `sandbox.${outcome}`,
          summary: outcomes[outcome].summary,
          description: outcomes[outcome].description,
          tags,
          bodyExample: outcomes[outcome].bodyExample,
          params: idParams(paymentExample.id),
          body: ForceBody,
          response: { 200: PaymentSchema },
        },
      },
      async (request, tx) => {
        const wanted = { outcome, code: request.body?.code ?? null };
        return {
          status: 200,
          body: toApi(await sandbox.force(tx, request.caller.tenant, request.params.id, wanted)),
        };
      },
    );
  }

  routes.post(
    '/v1/sandbox/payment_methods/:id/fund',
    {
      access: 'test:payments:write',
      rate: 'key',
      audit: { action: 'sandbox.funded', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['not_a_balance', 'amount_too_large'],
      errorHandler: nameMoreFields(({ amount }) => tooLargeFields(amount)),
      schema: {
        operationId: 'sandbox.fund',
        summary: 'Put test money into a balance',
        description: 'As if it had come from outside, and is there at once.',
        tags,
        params: idParams('pm_01kaf3v6w8q2m5x9t7c4b1n0ze'),
        body: FundBody,
        response: { 200: MethodSchema },
      },
    },
    async (request, tx) => {
      const { tenant } = request.caller;
      await sandbox.fund(tx, tenant, request.params.id, request.body.amount);
      return { status: 200, body: await showMethod(tx, tenant, request.params.id) };
    },
  );

  routes.post(
    '/v1/sandbox/reset',
    {
      access: 'test:payments:write',
      rate: 'key',
      audit: { action: 'sandbox.reset' },
      idempotency: 'keyed',
      config: { keysOutliveReset: true },
      schema: {
        operationId: 'sandbox.reset',
        summary: 'Begin test mode anew',
        description:
          'No payments, payment methods, events, ledger, idempotency keys or clock are left; keys and webhook endpoints stay. A repeat under the same `Idempotency-Key` resets nothing again.',
        tags,
        body: Type.Object({}, { additionalProperties: false, title: 'ResetSandbox', examples: [{}] }),
        response: { 200: Reset },
      },
    },
    async (request, tx) => {
      const { at } = await resetting.reset(tx, request.caller.tenant);
      return { status: 200, body: { object: 'sandbox_reset', reset_at: at.toISOString() } };
    },
  );
}
