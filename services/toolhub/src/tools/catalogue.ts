import type { Connector, ToolDefinition } from '../connectors/connector.ts';
import { fullInputSchema, withErrorForm } from './schemas.ts';
import { type AccountToolDefinition, annotationsOf, type CatalogueTool, type WireTool } from './tool.ts';

/** Every tool there is, made once at start. The order is that of the platforms and of their definitions. */
export interface Catalogue {
  readonly tools: readonly CatalogueTool[];
  /** Those that find and call the others, for sessions that want a short list. */
  readonly searchTools: readonly CatalogueTool[];
  readonly platforms: readonly { id: string; title: string }[];
  find(name: string): CatalogueTool | undefined;
  hasPlatform(id: string): boolean;
  /** The accounts of a platform that the operator configured for internal sessions. */
  internalAccounts(platform: string): readonly string[];
}

export interface CatalogueDependencies {
  connectors: readonly Pick<Connector, 'id' | 'title' | 'tools'>[];
  /** Listed first, for everyone. */
  accountTools: readonly AccountToolDefinition[];
  searchTools?: readonly AccountToolDefinition[];
  internalAccounts(platform: string): readonly string[];
}

const TOOLS_MAX = 1_000;
/** What the protocol and its clients take as a name, and what the names of the house look like. */
const TOOL_NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/;

export function createCatalogue(options: CatalogueDependencies): Catalogue {
  const { connectors, internalAccounts } = options;
  const tools: CatalogueTool[] = options.accountTools.map((definition) => ({
    ...listed(definition, { prefix: 'accounts', accounts: null }),
    platform: null,
    run: definition.run,
  }));
  for (const { id, tools: definitions } of connectors) {
    const accounts = internalAccounts(id);
    for (const definition of definitions)
      tools.push({ ...listed(definition, { prefix: id, accounts }), platform: id, run: definition.run });
  }
  const searchTools: CatalogueTool[] = (options.searchTools ?? []).map((definition) => ({
    ...listed(definition, { prefix: 'tools', accounts: null, openWorld: true }),
    platform: null,
    run: definition.run,
  }));
  const byName = new Map([...tools, ...searchTools].map((tool) => [tool.name, tool]));
  if (byName.size !== tools.length + searchTools.length) throw new TypeError('two tools have the same name');
  if (tools.length > TOOLS_MAX) throw new RangeError(`there are more than ${TOOLS_MAX} tools`);
  const platformIds = new Set(connectors.map(({ id }) => id));
  return {
    tools,
    searchTools,
    platforms: connectors.map(({ id, title }) => ({ id, title })),
    find: (name) => byName.get(name),
    hasPlatform: (id) => platformIds.has(id),
    internalAccounts,
  };
}

function listed(
  definition: Omit<ToolDefinition, 'run'> & Pick<AccountToolDefinition, 'annotations'>,
  {
    prefix,
    accounts,
    openWorld = accounts !== null,
  }: { prefix: string; accounts: readonly string[] | null; openWorld?: boolean },
) {
  const { name, title, description } = definition;
  if (!TOOL_NAME.test(name) || !name.startsWith(`${prefix}_`))
    throw new TypeError(`${name} is not a name of the form ${prefix}_verb_noun`);
  const wire: WireTool = {
    name,
    title,
    description,
    inputSchema: fullInputSchema(definition, accounts),
    outputSchema: withErrorForm(definition.outputSchema),
    annotations: definition.annotations ?? annotationsOf(definition.class, { openWorld }),
  };
  return { name, class: definition.class, untrusted: definition.untrusted, wire };
}
