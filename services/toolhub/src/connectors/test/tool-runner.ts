import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { Check, Errors } from 'typebox/value';
import { type Connector, ConnectorError, type ToolContext } from '../connector.ts';
import { createEgress } from '../egress.ts';

const PAGE_FIELDS = ['limit', 'cursor'];

/** Calls a tool as the framework does: the arguments fit its schema before, and the result does after. */
export async function runTool<Result = Record<string, unknown>>(
  connector: Connector,
  name: string,
  { args, context }: { args: Record<string, unknown>; context: ToolContext },
): Promise<Result> {
  const tool = connector.tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`${connector.id} has no tool ${name}`);
  const own = Object.fromEntries(
    Object.entries(args).filter(([field]) => !tool.list || !PAGE_FIELDS.includes(field)),
  );
  if (!Check(tool.inputSchema, own)) {
    throw new ConnectorError('invalid_arguments', `schema: ${JSON.stringify(Errors(tool.inputSchema, own))}`);
  }
  const result = await tool.run({ ...(tool.list ? { limit: 20 } : {}), ...args }, context);
  if (!Check(tool.outputSchema, result)) {
    throw new Error(
      `${name} answered beside its schema: ${JSON.stringify(Errors(tool.outputSchema, result))}`,
    );
  }
  return result as Result;
}

export interface TestContextInput {
  platform: string;
  credential: unknown;
  allow: string[];
  customerId?: string | null;
  signal?: AbortSignal;
  baseUrl?: string;
  inboundUrl?: string;
  oauthClient?: ToolContext['oauthClient'];
  database?: Database;
  now?: () => Date;
  timeLeftMs?: () => number;
  idempotencyKey?: string;
  stillConnected?: ToolContext['stillConnected'];
}

const closers: (() => Promise<void>)[] = [];

export function testContext(input: TestContextInput): ToolContext {
  const egress = createEgress({ allow: input.allow });
  closers.push(() => egress.close());
  const signal = input.signal ?? new AbortController().signal;
  return {
    platform: input.platform,
    credential: input.credential,
    customerId: input.customerId === undefined ? 'cus_test' : input.customerId,
    account: 'test',
    baseUrl: input.baseUrl ?? null,
    inboundUrl: input.inboundUrl ?? null,
    oauthClient: input.oauthClient ?? (() => null),
    fetch: egress.fetch(signal),
    guard: egress.guard,
    database: input.database as Database,
    now: input.now ?? (() => new Date()),
    randomBytes,
    signal,
    timeLeftMs: input.timeLeftMs ?? (() => 60_000),
    progress: () => {},
    idempotencyKey: input.idempotencyKey ?? null,
    stillConnected: input.stillConnected ?? (async () => true),
  };
}

export async function closeTestContexts(): Promise<void> {
  await Promise.all(closers.splice(0).map((close) => close()));
}
