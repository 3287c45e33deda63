import type { ToolClass, ToolDefinition } from '../connectors/connector.ts';
import type { InternalSession, Session } from '../customers/identity.ts';

/** A JSON Schema as it goes over the wire. */
export type JsonSchema = { [keyword: string]: unknown };

export interface ObjectSchema extends JsonSchema {
  type: 'object';
  properties: Record<string, JsonSchema>;
  required?: string[];
}

export interface ToolAnnotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** What `tools/list` shows of a tool. */
export interface WireTool {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema: ObjectSchema;
  annotations: ToolAnnotations;
}

/** A tool of the catalogue. `wire` is the original: it has the parameter of internal sessions where there is one. */
export type CatalogueTool = PlatformTool | AccountTool;

interface ListedTool {
  readonly name: string;
  readonly class: ToolClass;
  readonly wire: WireTool;
  /** Whether results hold texts that strangers wrote. */
  readonly untrusted: boolean;
}

export interface PlatformTool extends ListedTool {
  readonly platform: string;
  readonly run: ToolDefinition['run'];
}

/** Belongs to no platform: it looks at the caller's accounts or tools and is not metered. */
export interface AccountTool extends ListedTool {
  readonly platform: null;
  readonly run: AccountToolDefinition['run'];
}

export interface AccountToolDefinition extends Omit<ToolDefinition, 'run'> {
  /** Where they are not those of its class. */
  readonly annotations?: ToolAnnotations;
  run(args: Record<string, unknown>, context: AccountToolContext): Promise<Record<string, unknown>>;
}

export interface AccountToolContext {
  session: Session | InternalSession;
  /** What the session may call. */
  list: { search(query: { query: string; platform?: string; limit: number }): readonly WireTool[] };
  signal: AbortSignal;
}

export const SEARCH_TOOL = 'tools_search';
/** Stands for the tool that its arguments name, which is the one that is called, counted and audited. */
export const CALL_TOOL = 'tools_call';

export function isSearchTool({ name }: { name: string }): boolean {
  return name === SEARCH_TOOL || name === CALL_TOOL;
}

const hintsByClass: Record<
  ToolClass,
  readonly [readOnly: boolean, destructive: boolean, idempotent: boolean]
> = {
  R: [true, false, true],
  W: [false, false, false],
  I: [false, false, true],
  U: [false, true, true],
  D: [false, true, true],
};

/** Always all four, so that no client has to know the defaults of the protocol. */
export function annotationsOf(toolClass: ToolClass, options: { openWorld: boolean }): ToolAnnotations {
  const [readOnlyHint, destructiveHint, idempotentHint] = hintsByClass[toolClass];
  return { readOnlyHint, destructiveHint, idempotentHint, openWorldHint: options.openWorld };
}

const classesWithKey: ReadonlySet<ToolClass> = new Set(['W', 'U', 'D']);

export function takesIdempotencyKey(toolClass: ToolClass): boolean {
  return classesWithKey.has(toolClass);
}

export function isReadOnly(toolClass: ToolClass): boolean {
  return toolClass === 'R';
}
