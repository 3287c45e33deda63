// The SDKs behind one interface, so that the same test is run with each of them.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Payments } from '../node/src/index.ts';
import { installedPython, root } from './packed.ts';
import { hasPython } from './python.ts';

export interface Command {
  /** In camelCase; Python has the same in snake_case. */
  call: string;
  positional?: unknown[];
  fields?: Record<string, unknown>;
  options?: Record<string, unknown>;
  /** How many items of a list are read; 1 where it is absent. */
  take?: number;
}

export interface Driver {
  /** What the call gave; of a list or a stream, an array. Failures carry `error`, the name of their class. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by the tests.
  run(command: Command): Promise<any>;
  close(): void;
}

export interface DriverOptions {
  apiKey: string;
  baseUrl: string;
  timeoutMs: number;
  maxRetries: number;
}

type Method = (...values: unknown[]) => PromiseLike<unknown> | AsyncIterable<unknown>;

async function startNode(options: DriverOptions): Promise<Driver> {
  const client = new Payments(options) as unknown as Record<string, Record<string, Method>>;
  return {
    async run({ call, positional = [], fields, options: more, take = 1 }) {
      const [resource, name] = call.split('.') as [string, string];
      const given = [...positional, ...(fields ? [fields] : []), ...(more ? [more] : [])];
      const result = client[resource]?.[name]?.(...given);
      if (result === undefined) throw new Error(`the SDK has no ${call}`);
      if (!(Symbol.asyncIterator in result)) return await result;
      const items: unknown[] = [];
      for await (const item of result) {
        items.push(item instanceof Uint8Array ? new TextDecoder().decode(item) : item);
        if (items.length >= take) break;
      }
      return items;
    },
    close() {},
  };
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function startPython(isAsync: boolean): (options: DriverOptions) => Promise<Driver> {
  return async ({ apiKey, baseUrl, timeoutMs, maxRetries }) => {
    const child = spawn(await installedPython(), [join(root, 'sdks', 'python', 'test', 'drive.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        KEY: apiKey,
        URL: baseUrl,
        TIMEOUT: String(timeoutMs / 1_000),
        RETRIES: String(maxRetries),
        PYTHONDONTWRITEBYTECODE: '1',
        ...(isAsync ? { ASYNC: '1' } : {}),
      },
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      async run({ call, options = {}, take = 1, ...rest }) {
        const named = Object.fromEntries(
          Object.entries(options).map(([name, value]) => [snake(name), value]),
        );
        child.stdin.write(`${JSON.stringify({ call: snake(call), options: named, take, ...rest })}\n`);
        const { value: line, done } = await lines.next();
        if (done) throw new Error('Python ended');
        const answer = JSON.parse(line as string);
        if (answer.error !== undefined)
          throw Object.assign(new Error(answer.message), { ...answer, name: answer.error });
        return answer.value ?? undefined;
      },
      close: () => child.stdin.end(),
    };
  };
}

const pythonDrivers = [
  { name: 'Python', start: startPython(false) },
  { name: 'Python with asyncio', start: startPython(true) },
];

export const drivers: readonly { name: string; start: (options: DriverOptions) => Promise<Driver> }[] = [
  { name: 'Node', start: startNode },
  ...(hasPython ? pythonDrivers : []),
];
