import { cursorCodec, listPage, listQuery, listSchema, noteAudit, pointerTo } from '@libs/http';
import { baseErrors, type FieldError } from '@libs/runtime';
import Type, { type Static } from 'typebox';
import type { Access } from '../customers/access.ts';
import { mayReadMessages } from '../customers/identity.ts';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import { APPROVAL_STATUSES, type Approval, type ApprovalRules, canWait, statusOf } from './approval.ts';
import type { RuleBook } from './rules.ts';
import type { Approvals } from './service.ts';
import type { ShownArguments, ShownValue } from './shown-arguments.ts';

export interface ApprovalsRoutesDependencies {
  approvals: Approvals;
  ruleBook: RuleBook;
  catalogue: Pick<Catalogue, 'find'>;
  shownArguments: ShownArguments;
  access: Pick<Access, 'sessionOf'>;
  now: () => Date;
}

const TOOLS_MAX = 500;
const NAME_LENGTH_MAX = 128;
const ID_PATTERN = '^apr_[0-9a-z]{26}$';

const Rules = Type.Object(
  {
    send: Type.Boolean({ description: 'Calls of tools that send wait for a person.' }),
    delete: Type.Boolean({ description: 'Calls of tools that delete or overwrite wait for a person.' }),
    tools: Type.Record(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }), Type.Boolean(), {
      maxProperties: TOOLS_MAX,
      description: 'Single tools, for which `send` and `delete` do not count.',
    }),
  },
  {
    additionalProperties: false,
    title: 'ApprovalRules',
    examples: [{ send: true, delete: true, tools: { slack_send_message: false } }],
  },
);

const Timestamp = Type.String({ format: 'date-time' });
const ApprovalSchema = Type.Object(
  {
    id: Type.String(),
    tool: Type.String(),
    platform: Type.String(),
    client: Type.Object({
      id: Type.String(),
      name: Type.String({ description: 'As the client calls itself.' }),
    }),
    arguments: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What would be sent. In lists long texts are cut; one call by its id is shown whole, but for data. Empty for a token whose only scope is `account:read`, and where the key that sealed them is lost.',
    }),
    arguments_cut: Type.Boolean({ description: 'Whether there is more of it than is shown here.' }),
    data_cut: Type.Boolean({
      description:
        'Whether it holds long attachments, or other data that the schema of the tool calls base64, of which only the beginning is shown, also by the id of the call, and how long it is.',
    }),
    status: Type.Enum([...APPROVAL_STATUSES], { type: 'string' }),
    created_at: Timestamp,
    expires_at: Timestamp,
    decided_at: Type.Union([Timestamp, Type.Null()]),
  },
  {
    title: 'Approval',
    examples: [
      {
        id: 'apr_01kaf3v6w8q2m5x9t7c4b1n0ze',
        tool: 'slack_send_message',
        platform: 'slack',
        client: { id: 'rV3cZ1pT8mQ5xK0hN7bW2yL9sD4fG6jA1eU3iO5kP8q', name: 'My assistant' },
        arguments: { channel: 'C061EG9SL', text: 'Hello' },
        arguments_cut: false,
        data_cut: false,
        status: 'pending',
        created_at: '2026-11-16T15:04:05.000Z',
        expires_at: '2026-11-17T15:04:05.000Z',
        decided_at: null,
      },
    ],
  },
);

const idParams = Type.Object({
  id: Type.String({ pattern: ID_PATTERN, examples: ['apr_01kaf3v6w8q2m5x9t7c4b1n0ze'] }),
});
const cursor = cursorCodec(Type.Object({ id: Type.String({ pattern: ID_PATTERN }) }));
const tags = ['Approvals'];

export function registerApprovalRoutes(routes: ToolhubRoutes, deps: ApprovalsRoutesDependencies): void {
  registerRules(routes, deps);
  registerLists(routes, deps);
  registerDecisions(routes, deps);
}

function rulesToApi({ send, deletion, tools }: ApprovalRules): Static<typeof Rules> {
  return { send, delete: deletion, tools };
}

function registerRules(routes: ToolhubRoutes, deps: ApprovalsRoutesDependencies): void {
  const { ruleBook, access } = deps;
  routes.get(
    '/api/approvals/rules',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'approvals.get_rules',
        tags,
        summary: 'Which calls wait for a person',
        description: 'None unless you set it.',
        response: { 200: Rules },
      },
    },
    async (request) => rulesToApi(await ruleBook.rulesOf(access.sessionOf(request).customerId)),
  );

  routes.put(
    '/api/approvals/rules',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'approval.rules_changed' },
      idempotency: 'natural',
      codes: ['person_required'],
      schema: {
        operationId: 'approvals.set_rules',
        tags,
        summary: 'Set which calls wait for a person',
        description: 'All rules anew. Clients that were allowed a tool for good have to ask again.',
        body: Rules,
        response: { 200: Rules },
      },
    },
    async (request) => {
      const { customerId, via } = access.sessionOf(request);
      // A client that has to ask must not be able to end that.
      if (via === 'oauth') throw errors.person_required();
      const { send, delete: deletion, tools } = request.body;
      checkTools(tools, deps.catalogue);
      await ruleBook.replace(customerId, { send, deletion, tools });
      return rulesToApi(await ruleBook.rulesOf(customerId));
    },
  );
}

/** A rule for a tool that cannot wait would look like a promise. */
function checkTools(tools: Record<string, boolean>, catalogue: Pick<Catalogue, 'find'>): void {
  const faults = Object.keys(tools).flatMap((name): FieldError[] => {
    const tool = catalogue.find(name);
    if (tool !== undefined && canWait(tool)) return [];
    const detail =
      tool === undefined
        ? 'There is no tool of this name.'
        : 'Only tools that send, overwrite or delete can wait.';
    return [{ pointer: pointerTo('/tools', name), code: 'not_allowed', detail }];
  });
  if (faults.length > 0) throw baseErrors.invalid_request({ errors: faults });
}

type Shown = Static<typeof ApprovalSchema>;

/** In place of arguments that the caller may not see, or nobody can. */
const WITHHELD: ShownValue = { value: {}, isCut: true, hasData: false };

function toApi(approval: Approval, args: ShownValue, now: Date): Shown {
  const { id, tool, platform, client, createdAt, expiresAt, decidedAt } = approval;
  return {
    ...{ id, tool, platform, client: { id: client.id, name: client.name } },
    arguments: args.value as Record<string, unknown>,
    arguments_cut: args.isCut,
    data_cut: args.hasData,
    status: statusOf(approval, now),
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    decided_at: decidedAt?.toISOString() ?? null,
  };
}

function registerLists(routes: ToolhubRoutes, deps: ApprovalsRoutesDependencies): void {
  const { approvals, shownArguments, access, now } = deps;
  routes.get(
    '/api/approvals',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'approvals.list',
        tags,
        summary: 'Calls that wait or waited for a person',
        description: 'Newest first.',
        querystring: listQuery({
          status: Type.Optional(Type.Enum([...APPROVAL_STATUSES], { type: 'string' })),
        }),
        response: { 200: listSchema(ApprovalSchema) },
      },
    },
    async (request) => {
      const { status } = request.query;
      const session = access.sessionOf(request);
      const { customerId } = session;
      const page = await listPage(request.query, {
        cursor,
        read: ({ from, limit }) => approvals.list({ customerId, status, before: from?.id, limit }),
        positionOf: ({ id }) => ({ id }),
        show: (approval) => approval,
      });
      const data: Shown[] = [];
      for (const approval of page.data) {
        const args = mayReadMessages(session) ? await shownArguments.abridged(approval) : undefined;
        data.push(toApi(approval, args ?? WITHHELD, now()));
      }
      return { ...page, data };
    },
  );

  routes.get(
    '/api/approvals/:id',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'approvals.get',
        tags,
        summary: 'One of these calls',
        description: 'With its arguments whole, but for data such as attachments.',
        params: idParams,
        response: { 200: ApprovalSchema },
      },
    },
    async (request) => {
      const session = access.sessionOf(request);
      const approval = await approvals.find({ customerId: session.customerId, id: request.params.id });
      return mayReadMessages(session) ? showWhole(deps, approval) : toApi(approval, WITHHELD, now());
    },
  );
}

async function showWhole(deps: ApprovalsRoutesDependencies, approval: Approval): Promise<Shown> {
  const { shownArguments, now } = deps;
  return toApi(approval, (await shownArguments.whole(approval)) ?? WITHHELD, now());
}

function registerDecisions(routes: ToolhubRoutes, deps: ApprovalsRoutesDependencies): void {
  const { approvals, access } = deps;
  const Remember = Type.Object(
    {
      remember: Type.Optional(
        Type.Enum(['once', 'client'], {
          type: 'string',
          default: 'once',
          description: '`client`: this client need not ask again for this tool.',
        }),
      ),
    },
    { additionalProperties: false, title: 'AllowCall', examples: [{ remember: 'once' }] },
  );

  routes.post(
    '/api/approvals/:id/allow',
    {
      access: 'person',
      rate: 'api',
      audit: { action: 'approval.allowed', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['approval_not_pending'],
      schema: {
        operationId: 'approvals.allow',
        tags,
        summary: 'Let a waiting call run',
        description: 'It runs when the client makes the same call again, once.',
        params: idParams,
        body: Remember,
        response: { 200: ApprovalSchema },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      const remember = request.body.remember === 'client' ? 'client' : 'once';
      if (remember === 'client') noteAudit(request, { action: 'approval.allowed_for_client' });
      return showWhole(deps, await approvals.allow({ customerId, id: request.params.id }, remember));
    },
  );

  routes.post(
    '/api/approvals/:id/deny',
    {
      access: 'person',
      rate: 'api',
      audit: { action: 'approval.denied', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['approval_not_pending'],
      schema: {
        operationId: 'approvals.deny',
        tags,
        summary: 'Refuse a waiting call',
        description: 'The client is told so when it makes the call again.',
        params: idParams,
        response: { 200: ApprovalSchema },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      return showWhole(deps, await approvals.deny({ customerId, id: request.params.id }));
    },
  );
}
