import type { Queryable } from '@libs/db';
import type { App } from '@libs/http';
import Type from 'typebox';
import type { SandboxClock } from '../clock/clock.ts';
import { errors } from '../errors.ts';
import type { ReplyOnce } from '../idempotency/reply.ts';
import type { Access } from '../keys/access.ts';
import { parseTime } from '../payments/filters.ts';
import { toApi } from '../payments/payment.ts';
import { PaymentSchema } from '../payments/schemas.ts';
import { FORCED_OUTCOMES } from '../rails/rail.ts';
import type { Tenant } from '../tenant.ts';
import type { SandboxService } from './service.ts';

export interface SandboxRouteDependencies {
  sandbox: SandboxService;
  access: Access;
  replyOnce: ReplyOnce;
  showMethod: (tx: Queryable, tenant: Tenant, id: string) => Promise<unknown>;
}

const tags = ['Sandbox'];
const Clock = Type.Object(
  {
    object: Type.Literal('sandbox_clock'),
    state: Type.Union([Type.Literal('real'), Type.Literal('frozen'), Type.Literal('running')]),
    now: Type.String({ format: 'date-time' }),
  },
  { title: 'SandboxClock' },
);
const ClockBody = Type.Object(
  {
    now: Type.Optional(
      Type.String({ maxLength: 40, description: 'The moment at which the clock shall stand.' }),
    ),
    advance: Type.Optional(
      Type.String({ maxLength: 40, description: 'An ISO 8601 duration, for example P3D.' }),
    ),
  },
  { additionalProperties: false },
);
const ForceBody = Type.Object(
  {
    code: Type.Optional(
      Type.String({ minLength: 1, maxLength: 10, description: 'The network code, for example R01.' }),
    ),
  },
  { additionalProperties: false },
);
const FundBody = Type.Object({ amount: Type.Integer({ minimum: 1 }) }, { additionalProperties: false });
const IdParams = Type.Object({ id: Type.String({ maxLength: 255 }) });

function clockToApi({ clock, now }: { clock: SandboxClock; now: Date }) {
  return { object: 'sandbox_clock' as const, state: clock.state, now: now.toISOString() };
}

function parseMove(body: Type.Static<typeof ClockBody>): { now: Date } | { advance: string } {
  if ((body.now === undefined) === (body.advance === undefined)) {
    const detail = 'Give either now or advance.';
    const pointer = body.now === undefined ? '/now' : '/advance';
    throw errors.invalid_request({ errors: [{ pointer, code: 'one_of', detail }] });
  }
  if (body.advance !== undefined) return { advance: body.advance };
  try {
    return { now: parseTime('now', body.now) as Date };
  } catch {
    const detail = 'Must be an ISO 8601 time.';
    throw errors.invalid_request({ errors: [{ pointer: '/now', code: 'invalid', detail }] });
  }
}

export function registerSandboxRoutes(
  app: App,
  { sandbox, access, replyOnce, showMethod }: SandboxRouteDependencies,
): void {
  const write = access('payments:write', { sandboxOnly: true });

  app.get(
    '/v1/sandbox/clock',
    {
      ...access('payments:read', { sandboxOnly: true }),
      schema: { summary: 'Read the clock', tags, response: { 200: Clock } },
    },
    async ({ caller }) => clockToApi(await sandbox.readClock(caller.tenant)),
  );
  app.post(
    '/v1/sandbox/clock',
    {
      ...write,
      schema: { summary: 'Freeze or advance the clock', tags, body: ClockBody, response: { 200: Clock } },
    },
    async (request, reply) =>
      replyOnce(request, reply, async (tx) => ({
        status: 200,
        body: clockToApi(await sandbox.moveClock(tx, request.caller.tenant, parseMove(request.body))),
      })),
  );
  app.delete(
    '/v1/sandbox/clock',
    { ...write, schema: { summary: 'Let the clock run on', tags } },
    async ({ caller }, reply) => {
      await sandbox.releaseClock(caller.tenant);
      return reply.code(204).send();
    },
  );

  for (const outcome of FORCED_OUTCOMES) {
    app.post(
      `/v1/sandbox/payments/:id/${outcome}`,
      {
        ...write,
        schema: {
          summary: `Force an outcome: ${outcome}`,
          tags,
          params: IdParams,
          body: ForceBody,
          response: { 200: PaymentSchema },
        },
      },
      async (request, reply) =>
        replyOnce(request, reply, async (tx) => {
          const wanted = { outcome, code: request.body?.code ?? null };
          return {
            status: 200,
            body: toApi(await sandbox.force(tx, request.caller.tenant, request.params.id, wanted)),
          };
        }),
    );
  }

  app.post(
    '/v1/sandbox/payment_methods/:id/fund',
    {
      ...write,
      schema: { summary: 'Put test money into a balance', tags, params: IdParams, body: FundBody },
    },
    async (request, reply) =>
      replyOnce(request, reply, async (tx) => {
        const { tenant } = request.caller;
        await sandbox.fund(tx, tenant, request.params.id, request.body.amount);
        return { status: 200, body: await showMethod(tx, tenant, request.params.id) };
      }),
  );
}
