import { type CheckArguments, compileArguments } from './arguments.ts';
import type { Catalogue } from './catalogue.ts';
import { withoutAccount } from './schemas.ts';
import type { CatalogueTool, WireTool } from './tool.ts';

/** What a customer switched off, by name; `key` is the same for equal sets. */
export interface Switches {
  readonly tools: ReadonlySet<string>;
  readonly platforms: ReadonlySet<string>;
  readonly key: string;
}

/** One prepared answer to `tools/list`. */
export interface ToolList {
  readonly tools: readonly WireTool[];
  /** The JSON array of `tools`. */
  readonly json: string;
  has(name: string): boolean;
}

export interface ToolLists {
  /** `platforms` narrows the list; null does not. Tools of no platform always stay. */
  forCustomer(switches: Switches, platforms: PlatformFilter | null): ToolList;
  forInternal(platforms: PlatformFilter | null): ToolList;
  /** The checks of the arguments, as the kind of session sees the schema. */
  checkFor(kind: 'customer' | 'internal', tool: CatalogueTool): CheckArguments;
}

export interface PlatformFilter {
  readonly ids: ReadonlySet<string>;
  readonly key: string;
}

export function platformFilter(ids: Iterable<string>): PlatformFilter {
  const sorted = [...new Set(ids)].sort();
  return { ids: new Set(sorted), key: sorted.join(',') };
}

/** A list of 70 tools is about 100 KB; most customers share one. */
const LISTS_MAX = 64;

interface Prepared {
  tool: CatalogueTool;
  wire: WireTool;
  json: string;
}

/** Both forms of every tool are serialised at start; a list is then a matter of joining strings, once per selection. */
export function createToolLists(catalogue: Catalogue): ToolLists {
  const prepare = (tool: CatalogueTool, wire: WireTool): Prepared => ({
    tool,
    wire,
    json: JSON.stringify(wire),
  });
  const forCustomers = catalogue.tools.map((tool) =>
    prepare(tool, { ...tool.wire, inputSchema: withoutAccount(tool.wire.inputSchema) }),
  );
  const forInternals = catalogue.tools
    .filter(({ platform }) => platform === null || catalogue.internalAccounts(platform).length > 0)
    .map((tool) => prepare(tool, tool.wire));
  const lists = new Map<string, ToolList>();
  const checks = { customer: new Map<string, CheckArguments>(), internal: new Map<string, CheckArguments>() };
  const schemas = {
    customer: new Map(forCustomers.map(({ wire }) => [wire.name, wire.inputSchema])),
    internal: new Map(forInternals.map(({ wire }) => [wire.name, wire.inputSchema])),
  };

  function remembered(key: string, select: () => Prepared[]): ToolList {
    const known = lists.get(key);
    if (known !== undefined) return known;
    const list = toList(select());
    const [oldest] = lists.keys();
    if (lists.size >= LISTS_MAX && oldest !== undefined) lists.delete(oldest);
    lists.set(key, list);
    return list;
  }

  return {
    forCustomer: (switches, platforms) =>
      remembered(`customer\n${platforms?.key ?? '*'}\n${switches.key}`, () =>
        forCustomers.filter(({ tool }) => isWanted(tool, platforms) && isOn(tool, switches)),
      ),
    forInternal: (platforms) =>
      remembered(`internal\n${platforms?.key ?? '*'}`, () =>
        forInternals.filter(({ tool }) => isWanted(tool, platforms)),
      ),
    checkFor(kind, { name }) {
      let check = checks[kind].get(name);
      if (check === undefined) {
        const schema = schemas[kind].get(name);
        if (schema === undefined) throw new TypeError(`${name} is not a tool of ${kind} sessions`);
        check = compileArguments(schema);
        checks[kind].set(name, check);
      }
      return check;
    },
  };
}

export function isOn({ name, platform }: CatalogueTool, switches: Switches): boolean {
  return platform === null || !(switches.platforms.has(platform) || switches.tools.has(name));
}

function isWanted({ platform }: CatalogueTool, filter: PlatformFilter | null): boolean {
  return platform === null || filter === null || filter.ids.has(platform);
}

function toList(selected: readonly Prepared[]): ToolList {
  const names = new Set(selected.map(({ tool }) => tool.name));
  return {
    tools: selected.map(({ wire }) => wire),
    json: `[${selected.map(({ json }) => json).join(',')}]`,
    has: (name) => names.has(name),
  };
}
