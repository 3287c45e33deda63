import type { Changes, Database } from '@libs/db';
import { baseErrors } from '@libs/runtime';
import { LRUCache } from 'lru-cache';
import { type ApprovalRules, NO_RULES } from '../approvals/approval.ts';
import type { RuleBook } from '../approvals/rules.ts';
import type { Connections } from '../credentials/connections.ts';
import { errors } from '../errors.ts';
import type { Catalogue } from './catalogue.ts';
import {
  createToolLists,
  isOn,
  platformFilter,
  type Selection,
  type Switches,
  type ToolLists,
} from './lists.ts';
import { listSwitchedOff, type SwitchedOff, type SwitchKind, writeSwitch } from './store.ts';
import type { CatalogueTool } from './tool.ts';

export interface ToolState {
  tool: CatalogueTool;
  /** Whether sessions have it: its own switch and that of its platform. */
  enabled: boolean;
  switchedOn: boolean;
  platformEnabled: boolean;
}

/** What a customer chose, in one memory: every call asks for all of it. */
export interface CustomerChoices extends Selection {
  readonly approvals: ApprovalRules;
}

export interface ToolsService {
  readonly catalogue: Catalogue;
  readonly lists: ToolLists;
  /** Not a promise where the answer is in the cache, which it is for all calls of a customer but the first. */
  selectionOf(customerId: string): CustomerChoices | Promise<CustomerChoices>;
  states(customerId: string): Promise<ToolState[]>;
  stateOfTool(customerId: string, name: string): Promise<ToolState>;
  switchTool(customerId: string, change: { name: string; enabled: boolean }): Promise<ToolState>;
  switchPlatform(customerId: string, change: { platform: string; enabled: boolean }): Promise<void>;
  /** Told when the list of a customer changed, in whichever process; null when it may have for anybody. */
  onListChanged(listener: (customerId: string | null) => void): void;
}

export interface ToolsDependencies {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on'>;
  catalogue: Catalogue;
  connections: Pick<Connections, 'platformsOf' | 'subscribe'>;
  ruleBook: Pick<RuleBook, 'rulesOf' | 'subscribe'>;
  now: () => Date;
}

const TOPIC = 'tool_switch';
const REMEMBERED_MAX = 20_000;
/** A safety net below the notifications. */
const REMEMBERED_MS = 60_000;

const NOTHING_OFF: Switches = { tools: new Set(), platforms: new Set(), key: '' };
const NOTHING: CustomerChoices = {
  switches: NOTHING_OFF,
  connected: platformFilter([]),
  approvals: NO_RULES,
};

function toSwitches(off: readonly SwitchedOff[]): Switches {
  if (off.length === 0) return NOTHING_OFF;
  const namesOf = (wanted: SwitchKind) => off.filter(({ kind }) => kind === wanted).map(({ name }) => name);
  const tools = namesOf('tool').sort();
  const platforms = namesOf('platform').sort();
  return {
    tools: new Set(tools),
    platforms: new Set(platforms),
    key: `${platforms.join(',')}|${tools.join(',')}`,
  };
}

interface Remembered {
  selection: CustomerChoices;
  untilMs: number;
}

interface Loading {
  promise: Promise<CustomerChoices>;
  /** A change came in while the rows were read: they may be the old ones, so they are not remembered. */
  outdated: boolean;
}

export function createToolsService(deps: ToolsDependencies): ToolsService {
  const { database, catalogue, now } = deps;
  const remembered = new LRUCache<string, Remembered>({ max: REMEMBERED_MAX });
  const loading = new Map<string, Loading>();

  function forget(customerId: string): void {
    remembered.delete(customerId);
    const load = loading.get(customerId);
    if (load !== undefined) load.outdated = true;
  }

  const listeners: ((customerId: string | null) => void)[] = [];

  function forgetHeard(customerId: string | null): void {
    if (customerId !== null) {
      forget(customerId);
      return;
    }
    remembered.clear();
    for (const load of loading.values()) load.outdated = true;
  }

  function heard(customerId: string | null): void {
    forgetHeard(customerId);
    for (const listener of listeners) listener(customerId);
  }

  deps.changes.on(TOPIC, heard);
  deps.connections.subscribe({ forget, heard });
  // No list changes by a rule.
  deps.ruleBook.subscribe({ forget, heard: forgetHeard });

  async function load(customerId: string, started: Loading): Promise<CustomerChoices> {
    const [off, platforms, approvals] = await Promise.all([
      listSwitchedOff(database, customerId),
      deps.connections.platformsOf(customerId),
      deps.ruleBook.rulesOf(customerId),
    ]);
    const selection = { switches: toSwitches(off), connected: platformFilter(platforms), approvals };
    if (!started.outdated) {
      remembered.set(customerId, { selection, untilMs: now().getTime() + REMEMBERED_MS });
    }
    return selection;
  }

  function selectionOf(customerId: string): CustomerChoices | Promise<CustomerChoices> {
    const known = remembered.get(customerId);
    if (known !== undefined && now().getTime() < known.untilMs) return known.selection;
    const running = loading.get(customerId);
    if (running !== undefined && !running.outdated) return running.promise;
    const started: Loading = { promise: Promise.resolve(NOTHING), outdated: false };
    loading.set(customerId, started);
    started.promise = load(customerId, started).finally(() => {
      if (loading.get(customerId) === started) loading.delete(customerId);
    });
    return started.promise;
  }

  async function write(customerId: string, change: SwitchedOff & { enabled: boolean }): Promise<void> {
    await database.transaction(async (tx) => {
      await writeSwitch(tx, { ...change, customerId, at: now() });
      await deps.changes.publish(tx, TOPIC, customerId);
    });
    forget(customerId);
  }

  function toolNamed(name: string): CatalogueTool {
    const tool = catalogue.find(name);
    if (tool === undefined) throw baseErrors.not_found({ detail: 'There is no tool of this name.' });
    return tool;
  }

  function stateOf(tool: CatalogueTool, switches: Switches): ToolState {
    return {
      tool,
      enabled: isOn(tool, switches),
      switchedOn: tool.platform === null || !switches.tools.has(tool.name),
      platformEnabled: tool.platform === null || !switches.platforms.has(tool.platform),
    };
  }

  return {
    catalogue,
    lists: createToolLists(catalogue),
    selectionOf,
    onListChanged: (listener) => void listeners.push(listener),
    async states(customerId) {
      const { switches } = await selectionOf(customerId);
      return catalogue.tools.map((tool) => stateOf(tool, switches));
    },
    async stateOfTool(customerId, name) {
      const tool = toolNamed(name);
      return stateOf(tool, (await selectionOf(customerId)).switches);
    },
    async switchTool(customerId, { name, enabled }) {
      const tool = toolNamed(name);
      if (tool.platform === null && !enabled) throw errors.tool_always_on();
      await write(customerId, { kind: 'tool', name, enabled });
      return stateOf(tool, (await selectionOf(customerId)).switches);
    },
    async switchPlatform(customerId, { platform, enabled }) {
      if (!catalogue.hasPlatform(platform))
        throw baseErrors.not_found({ detail: 'There is no platform of this name.' });
      await write(customerId, { kind: 'platform', name: platform, enabled });
    },
  };
}
