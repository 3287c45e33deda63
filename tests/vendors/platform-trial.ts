// What the tests of every platform begin with: a context that leads to the vendor's test server, and calls by name.
import type { Connector, ToolContext } from '../../services/toolhub/src/connectors/connector.ts';
import {
  runTool,
  type TestContextInput,
  testContext,
} from '../../services/toolhub/src/connectors/test/tool-runner.ts';
import type { VendorServer } from './vendor-server.ts';

export const NOW = new Date('2026-11-15T12:00:00.000Z');
const PAGES_MAX = 100;

export interface PlatformTrial {
  context(overrides?: Partial<TestContextInput>): ToolContext;
  call<Result = Record<string, unknown>>(
    name: string,
    args: Record<string, unknown>,
    context?: ToolContext,
  ): Promise<Result>;
  /** All items of a list, page by page, to the last. */
  all<Item>(name: string, args: Record<string, unknown>): Promise<Item[]>;
}

export function platformTrial(
  connector: Connector,
  server: () => VendorServer,
  credential: () => unknown,
): PlatformTrial {
  const context = (overrides: Partial<TestContextInput> = {}) =>
    testContext({
      ...{ platform: connector.id, credential: credential(), baseUrl: server().url, now: () => NOW },
      ...{ allow: [new URL(server().url).host], ...overrides },
    });
  const call: PlatformTrial['call'] = (name, args, at = context()) =>
    runTool(connector, name, { args, context: at });
  return {
    context,
    call,
    async all<Item>(name: string, args: Record<string, unknown>) {
      const items: Item[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
        const answer = await call<{ items: Item[]; next_cursor: string | null }>(name, {
          ...args,
          ...(cursor === undefined ? {} : { cursor }),
        });
        items.push(...answer.items);
        cursor = answer.next_cursor;
      }
      return items;
    },
  };
}
