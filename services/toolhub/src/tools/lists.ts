import { LRUCache } from 'lru-cache';
import { type CheckArguments, compileArguments } from './arguments.ts';
import type { Catalogue } from './catalogue.ts';
import { withoutAccount } from './schemas.ts';
import { createSearchIndex, type SearchQuery } from './search.ts';
import { type CatalogueTool, isSearchTool, type WireTool } from './tool.ts';

/** What a customer switched off, by name; `key` is the same for equal sets. */
export interface Switches {
  readonly tools: ReadonlySet<string>;
  readonly platforms: ReadonlySet<string>;
  readonly key: string;
}

/** What decides on the tools of a customer's sessions. */
export interface Selection {
  readonly switches: Switches;
  readonly connected: PlatformFilter;
}

/** What a session asked to see, by the address that it uses. */
export interface View {
  /** Shows these platforms, connected or not; null shows the connected ones. */
  readonly platforms: PlatformFilter | null;
  /** `search` shows two tools that find and call all others, instead of those. */
  readonly mode: 'list' | 'search';
}

/** One prepared answer to `tools/list`. */
export interface ToolList {
  readonly tools: readonly WireTool[];
  /** The JSON array of `tools`. */
  readonly json: string;
  /** Whether a call may name it. Tools of platforms that are not connected are not shown, but answer how to connect. */
  has(name: string): boolean;
  /** Whether `tools_call` may name it: as above, but for the tools of the search itself. */
  reaches(name: string): boolean;
  /** The best first, from all that `reaches` lets through. */
  search(query: SearchQuery): readonly WireTool[];
}

export interface ToolLists {
  /** Tools of no platform always stay. */
  forCustomer(selection: Selection, view: View): ToolList;
  forInternal(view: View): ToolList;
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

/** A list of all tools is about 120 KB, and is kept as text and as the bytes of both eras; most customers share a few. */
const LISTS_MAX = 100;

type IsWanted = (tool: CatalogueTool) => boolean;

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
  const all = [...catalogue.tools, ...catalogue.searchTools];
  const forCustomers = all.map((tool) =>
    prepare(tool, { ...tool.wire, inputSchema: withoutAccount(tool.wire.inputSchema) }),
  );
  const forInternals = all
    .filter(({ platform }) => platform === null || catalogue.internalAccounts(platform).length > 0)
    .map((tool) => prepare(tool, tool.wire));
  const index = createSearchIndex(catalogue.tools.map(({ wire, platform }) => ({ ...wire, platform })));
  const lists = new LRUCache<string, ToolList>({ max: LISTS_MAX });
  const checks = { customer: new Map<string, CheckArguments>(), internal: new Map<string, CheckArguments>() };
  const schemas = {
    customer: new Map(forCustomers.map(({ wire }) => [wire.name, wire.inputSchema])),
    internal: new Map(forInternals.map(({ wire }) => [wire.name, wire.inputSchema])),
  };

  function remembered(key: string, make: () => ToolList): ToolList {
    const known = lists.get(key);
    if (known !== undefined) return known;
    const list = make();
    lists.set(key, list);
    return list;
  }

  /** `callable` is everything that the session may call, `isShown` what of it is listed when nothing is searched for. */
  function toList(
    callable: readonly Prepared[],
    { mode, isShown, isNear }: { mode: View['mode']; isShown: IsWanted; isNear: IsWanted },
  ): ToolList {
    const shown = callable.filter(({ tool }) =>
      mode === 'search' ? tool.platform === null : isShown(tool) && !isSearchTool(tool),
    );
    const reached = new Map(
      callable.filter(({ tool }) => !isSearchTool(tool)).map(({ tool, wire }) => [tool.name, wire]),
    );
    const near = new Set(callable.filter(({ tool }) => isNear(tool)).map(({ tool }) => tool.name));
    const names = new Set([...reached.keys(), ...shown.map(({ tool }) => tool.name)]);
    return {
      tools: shown.map(({ wire }) => wire),
      json: `[${shown.map(({ json }) => json).join(',')}]`,
      has: (name) => names.has(name),
      reaches: (name) => reached.has(name),
      search: (query) =>
        index
          .search(query, { has: (name) => reached.has(name), isNear: (name) => near.has(name) })
          .map((name) => reached.get(name) as WireTool),
    };
  }

  return {
    forCustomer: ({ switches, connected }, { platforms, mode }) =>
      remembered(`customer\n${mode}\n${platforms?.key ?? '*'}\n${switches.key}\n${connected.key}`, () =>
        toList(
          forCustomers.filter(({ tool }) => isIn(tool, platforms) && isOn(tool, switches)),
          {
            mode,
            isShown: (tool) => platforms !== null || isIn(tool, connected),
            isNear: (tool) => isIn(tool, connected),
          },
        ),
      ),
    forInternal: ({ platforms, mode }) =>
      remembered(`internal\n${mode}\n${platforms?.key ?? '*'}`, () =>
        toList(
          forInternals.filter(({ tool }) => isIn(tool, platforms)),
          { mode, isShown: () => true, isNear: () => true },
        ),
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

function isIn({ platform }: CatalogueTool, filter: PlatformFilter | null): boolean {
  return platform === null || filter === null || filter.ids.has(platform);
}
