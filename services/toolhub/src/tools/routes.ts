import { cursorCodec, listPage, noteAudit } from '@libs/http';
import Type, { type Static } from 'typebox';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { withoutAccount } from './schemas.ts';
import type { ToolState, ToolsService } from './service.ts';

export interface ToolsRoutesDependencies {
  tools: ToolsService;
  access: Pick<Access, 'sessionOf'>;
}

const LIMIT_MAX = 100;
const NAME_LENGTH_MAX = 128;

const toolExample = {
  name: 'slack_send_message',
  title: 'Send a Slack message',
  description: 'Sends a message to a channel or a person.',
  platform: 'slack',
  class: 'W',
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
  enabled: true,
  switched_on: true,
  platform_enabled: true,
};

const ToolSchema = Type.Object(
  {
    name: Type.String(),
    title: Type.String(),
    description: Type.String(),
    platform: Type.Union([Type.String(), Type.Null()]),
    class: Type.String({ description: 'R reads, W sends, I changes, U overwrites, D deletes.' }),
    annotations: Type.Object({
      readOnlyHint: Type.Boolean(),
      destructiveHint: Type.Boolean(),
      idempotentHint: Type.Boolean(),
      openWorldHint: Type.Boolean(),
    }),
    enabled: Type.Boolean({
      description: 'Whether AI clients see it: its own switch and that of its platform.',
    }),
    switched_on: Type.Boolean({ description: 'Its own switch.' }),
    platform_enabled: Type.Boolean(),
  },
  {
    title: 'Tool',
    examples: [toolExample],
  },
);

const PlatformSchema = Type.Object(
  { platform: Type.String(), title: Type.String(), enabled: Type.Boolean() },
  { title: 'Platform', examples: [{ platform: 'slack', title: 'Slack', enabled: true }] },
);
const PlatformSwitch = Type.Object(
  { platform: Type.String(), enabled: Type.Boolean() },
  { title: 'PlatformSwitch', examples: [{ platform: 'slack', enabled: false }] },
);
const Switch = Type.Object(
  { enabled: Type.Boolean() },
  { additionalProperties: false, title: 'Switch', examples: [{ enabled: false }] },
);

const schemaDocument = Type.Record(Type.String(), Type.Unknown(), {
  description: 'A JSON Schema.',
  examples: [{ type: 'object' }],
});
const ToolDetailSchema = Type.Object(
  { ...ToolSchema.properties, input_schema: schemaDocument, output_schema: schemaDocument },
  {
    title: 'ToolDetails',
    examples: [{ ...toolExample, input_schema: { type: 'object' }, output_schema: { type: 'object' } }],
  },
);
const ToolParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, examples: [toolExample.name] }),
});
const cursor = cursorCodec(Type.Object({ after: Type.String({ maxLength: NAME_LENGTH_MAX }) }));

function toApi({ tool, enabled, switchedOn, platformEnabled }: ToolState): Static<typeof ToolSchema> {
  const { name, title, description, annotations } = tool.wire;
  return {
    name,
    title,
    description,
    platform: tool.platform,
    class: tool.class,
    annotations,
    enabled,
    switched_on: switchedOn,
    platform_enabled: platformEnabled,
  };
}

export function registerToolsRoutes(routes: ToolhubRoutes, deps: ToolsRoutesDependencies): void {
  const { tools, access } = deps;

  routes.get(
    '/api/tools',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'tools.list',
        tags: ['Tools'],
        summary: 'The tools and their switches',
        description: 'All of them at once; with `limit`, in pages.',
        querystring: Type.Object(
          {
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
            cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object(
            {
              data: Type.Array(ToolSchema),
              platforms: Type.Array(PlatformSchema),
              next_cursor: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
            },
            { title: 'ToolList' },
          ),
        },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      const states = await tools.states(customerId);
      const { switches } = await tools.selectionOf(customerId);
      const { limit = states.length, cursor: position } = request.query;
      const page = await listPage(
        { limit, cursor: position },
        {
          cursor,
          async read({ from }) {
            const last = states.findIndex(({ tool }) => tool.name === from?.after);
            return from === undefined ? states : states.slice(last + 1);
          },
          positionOf: ({ tool }) => ({ after: tool.name }),
          show: toApi,
        },
      );
      return {
        data: page.data,
        platforms: tools.catalogue.platforms.map(({ id, title }) => ({
          platform: id,
          title,
          enabled: !switches.platforms.has(id),
        })),
        next_cursor: page.next_cursor,
      };
    },
  );

  routes.get(
    '/api/tools/:name',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'tools.get',
        tags: ['Tools'],
        summary: 'One tool',
        description: 'With the schemas of its arguments and of its answer.',
        params: ToolParams,
        response: { 200: ToolDetailSchema },
      },
    },
    async (request) => {
      const state = await tools.stateOfTool(access.sessionOf(request).customerId, request.params.name);
      return {
        ...toApi(state),
        input_schema: withoutAccount(state.tool.wire.inputSchema),
        output_schema: state.tool.wire.outputSchema,
      };
    },
  );

  routes.put(
    '/api/tools/:name',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'tool.switched', targetParam: 'name' },
      idempotency: 'natural',
      codes: ['tool_always_on'],
      schema: {
        operationId: 'tools.switch',
        tags: ['Tools'],
        summary: 'Switch a tool on or off',
        description: 'What is off is not listed for AI clients and cannot be called.',
        params: ToolParams,
        body: Switch,
        response: { 200: ToolSchema },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      const { name } = request.params;
      const { enabled } = request.body;
      const state = await tools.switchTool(customerId, { name, enabled });
      noteAudit(request, { action: enabled ? 'tool.switched_on' : 'tool.switched_off' });
      return toApi(state);
    },
  );

  routes.put(
    '/api/platforms/:platform',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'platform.switched', targetParam: 'platform' },
      idempotency: 'natural',
      schema: {
        operationId: 'platforms.switch',
        tags: ['Tools'],
        summary: 'Switch all tools of a platform on or off',
        description: 'The switches of single tools stay as they are, and count again when it is on.',
        params: Type.Object({
          platform: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, examples: ['slack'] }),
        }),
        body: Switch,
        response: { 200: PlatformSwitch },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      const { platform } = request.params;
      const { enabled } = request.body;
      await tools.switchPlatform(customerId, { platform, enabled });
      noteAudit(request, { action: enabled ? 'platform.switched_on' : 'platform.switched_off' });
      return { platform, enabled };
    },
  );
}
