import Type from 'typebox';
import { ConnectorError } from '../connectors/connector.ts';
import { type AccountToolDefinition, CALL_TOOL, SEARCH_TOOL } from './tool.ts';

const QUERY_LENGTH_MAX = 500;
const NAME_LENGTH_MAX = 128;
const FOUND_DEFAULT = 10;
const FOUND_MAX = 100;

const Found = Type.Object(
  {
    name: Type.String(),
    title: Type.String(),
    description: Type.String(),
    input_schema: Type.Object({}, { additionalProperties: true, description: 'What `arguments` must fit.' }),
  },
  { additionalProperties: false },
);

/** What a session lists instead of dozens of tools when it asks for `?mode=search`. */
export function createSearchTools(platforms: readonly string[]): AccountToolDefinition[] {
  const search: AccountToolDefinition = {
    name: SEARCH_TOOL,
    title: 'Find tools',
    description:
      `Finds tools by what they do, for example "send an e-mail" or "slack channels", the best first. Call one of ` +
      `them with ${CALL_TOOL}, with arguments that fit its input_schema.`,
    class: 'R',
    inputSchema: Type.Object(
      {
        query: Type.String({
          minLength: 1,
          maxLength: QUERY_LENGTH_MAX,
          description: 'What is to be done, in English words, or a part of a name.',
        }),
        platform: Type.Optional(
          Type.Enum([...platforms], { type: 'string', description: 'Only tools of this platform.' }),
        ),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: FOUND_MAX,
            default: FOUND_DEFAULT,
            description: 'How many tools to return.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    outputSchema: Type.Object({ items: Type.Array(Found) }, { additionalProperties: false }),
    list: false,
    untrusted: false,
    async run(args, { list }) {
      const { limit = FOUND_DEFAULT, ...wanted } = args as {
        query: string;
        platform?: string;
        limit?: number;
      };
      return {
        items: list.search({ ...wanted, limit }).map(({ name, title, description, inputSchema }) => ({
          ...{ name, title, description },
          input_schema: inputSchema,
        })),
      };
    },
  };
  const call: AccountToolDefinition = {
    name: CALL_TOOL,
    title: 'Call a tool that was found',
    description: `Calls the tool of that name, as ${SEARCH_TOOL} described it. The result is that tool's own.`,
    // What it does is known once the tool is: the class of that one counts. Here stands the most that it can do.
    class: 'R',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    inputSchema: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, description: 'The name of the tool.' }),
        arguments: Type.Optional(
          Type.Object({}, { additionalProperties: true, description: 'Its arguments; none if absent.' }),
        ),
      },
      { additionalProperties: false },
    ),
    outputSchema: Type.Object({}, { additionalProperties: true, description: 'The result of that tool.' }),
    list: false,
    untrusted: false,
    // A name that the session knows was taken for the tool itself before.
    run: async () => {
      throw new ConnectorError(
        'invalid_arguments',
        `/name is no tool here; ${SEARCH_TOOL} finds those there are`,
      );
    },
  };
  return [search, call];
}
