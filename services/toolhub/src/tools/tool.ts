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

/** Belongs to no platform: it looks at the caller's accounts and is not metered. */
export interface AccountTool extends ListedTool {
  readonly platform: null;
  readonly run: AccountToolDefinition['run'];
}

export interface AccountToolDefinition extends Omit<ToolDefinition, 'run'> {
  run(
    args: Record<string, unknown>,
    context: { session: Session | InternalSession; signal: AbortSignal },
  ): Promise<Record<string, unknown>>;
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
