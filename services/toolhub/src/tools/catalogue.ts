import type { Connector, ToolDefinition } from '../connectors/connector.ts';
import { fullInputSchema, withErrorForm } from './schemas.ts';
import { annotationsOf, type CatalogueTool } from './tool.ts';

/** Platform → names of the accounts that the operator configured for internal sessions. */
export type InternalAccountNames = Readonly<Record<string, readonly string[]>>;

/** Every tool there is, made once at start. The order is that of the platforms and of their definitions. */
export interface Catalogue {
  readonly tools: readonly CatalogueTool[];
  readonly platforms: readonly { id: string; title: string }[];
  find(name: string): CatalogueTool | undefined;
  hasPlatform(id: string): boolean;
  /** Whether the operator configured an account of this platform. */
  internalAccounts(platform: string): readonly string[];
}

export interface CatalogueOptions {
  connectors: readonly Connector[];
  /** Tools of no platform; they are listed first, for everyone. */
  accountTools: readonly ToolDefinition[];
  internalAccounts: InternalAccountNames;
}

const TOOLS_MAX = 1_000;
/** What the protocol and its clients take as a name, and what the names of the house look like. */
const TOOL_NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/;

export function createCatalogue(options: CatalogueOptions): Catalogue {
  const accountsOf = (platform: string): readonly string[] =>
    Object.hasOwn(options.internalAccounts, platform) ? (options.internalAccounts[platform] ?? []) : [];
  const tools = [
    ...options.accountTools.map((definition) => toTool(definition, { platform: null, accounts: null })),
    ...options.connectors.flatMap(({ id, tools: definitions }) =>
      definitions.map((definition) => toTool(definition, { platform: id, accounts: accountsOf(id) })),
    ),
  ];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (byName.size !== tools.length) throw new TypeError('two tools have the same name');
  if (tools.length > TOOLS_MAX) throw new RangeError(`there are more than ${TOOLS_MAX} tools`);
  const platforms = options.connectors.map(({ id, title }) => ({ id, title }));
  const platformIds = new Set(platforms.map(({ id }) => id));
  return {
    tools,
    platforms,
    find: (name) => byName.get(name),
    hasPlatform: (id) => platformIds.has(id),
    internalAccounts: accountsOf,
  };
}

function toTool(
  definition: ToolDefinition,
  place: { platform: string | null; accounts: readonly string[] | null },
): CatalogueTool {
  const { name, title, description } = definition;
  const prefix = place.platform ?? 'accounts';
  if (!TOOL_NAME.test(name) || !name.startsWith(`${prefix}_`))
    throw new TypeError(`${name} is not a name of the form ${prefix}_verb_noun`);
  return {
    name,
    class: definition.class,
    platform: place.platform,
    definition,
    wire: {
      name,
      title,
      description,
      inputSchema: fullInputSchema(definition, place.accounts),
      outputSchema: withErrorForm(definition.outputSchema),
      annotations: annotationsOf(definition.class, { openWorld: place.platform !== null }),
    },
  };
}
