import { baseErrors } from '@libs/runtime';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import type { Session } from '../customers/identity.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { ToolList } from '../tools/lists.ts';
import type { CallTool } from './call-tool.ts';
import { untilHangUp } from './hang-up.ts';

export interface CallRoutesDependencies {
  callTool: CallTool;
  /** What the person's assistants may call. */
  listFor(session: Session): ToolList | Promise<ToolList>;
  access: Pick<Access, 'sessionOf'>;
}

const NAME_LENGTH_MAX = 128;

/** A person calls a tool from the dashboard: the same ladder, limit and log as for an assistant. */
export function registerCallRoutes(routes: ToolhubRoutes, deps: CallRoutesDependencies): void {
  const { callTool, access } = deps;
  routes.post(
    '/api/tools/:name/call',
    {
      access: 'person',
      rate: 'api',
      // The ladder writes the line itself, with how the call went.
      audit: 'none',
      idempotency: 'repeats',
      schema: {
        operationId: 'tools.call',
        tags: ['Tools'],
        summary: 'Call a tool',
        description:
          'A real call on your connected account: it counts, and it stands in the audit log. A call that fails at the platform answers 200 with `is_error`.',
        params: Type.Object({
          name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, examples: ['accounts_list'] }),
        }),
        body: Type.Object(
          { arguments: Type.Record(Type.String(), Type.Unknown(), { default: {} }) },
          { additionalProperties: false, title: 'CallTool', examples: [{ arguments: {} }] },
        ),
        response: {
          200: Type.Object(
            {
              tool: Type.String(),
              is_error: Type.Boolean(),
              content: Type.Record(Type.String(), Type.Unknown(), {
                description: 'What the tool answered; `error` when it failed.',
              }),
              text: Type.String({ description: 'The same as an assistant reads it.' }),
            },
            {
              title: 'ToolCall',
              examples: [
                { tool: 'accounts_list', is_error: false, content: { items: [] }, text: '{"items":[]}' },
              ],
            },
          ),
        },
      },
    },
    async (request, reply) => {
      const session = access.sessionOf(request);
      const { name } = request.params;
      const list = await deps.listFor(session);
      return untilHangUp(reply.raw, async ({ signal }) => {
        const call = {
          ...{ session, list, name, signal, badText: [] },
          args: request.body.arguments,
          progress: () => {},
          ip: request.ip,
          requestId: request.id,
        };
        const admission = await callTool.admitCall(call);
        if (admission.kind === 'unknown_tool')
          throw baseErrors.not_found({ detail: 'There is no tool of this name, or it is switched off.' });
        if (admission.kind === 'insufficient_scope')
          throw new Error(`a person's session lacks ${admission.scope}`);
        const result =
          admission.kind === 'refused' ? admission.result : await callTool.runCall(call, admission.tool);
        return {
          tool: name,
          is_error: result.isError === true,
          content: result.structuredContent,
          text: result.content.map(({ text }) => text).join('\n'),
        };
      });
    },
  );
}
