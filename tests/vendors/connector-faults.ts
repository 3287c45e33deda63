// The same trials for every platform: whatever goes wrong between us and a vendor ends in a clear error of ours, with
// nothing sent twice and no secret shown.
import { expect, it } from 'vitest';
import {
  type Connector,
  ConnectorError,
  type ToolContext,
} from '../../services/toolhub/src/connectors/connector.ts';
import { runTool } from '../../services/toolhub/src/connectors/test/tool-runner.ts';
import type { Reply, VendorServer } from './vendor-server.ts';

export interface FaultTrial {
  connector: Connector;
  server: () => VendorServer;
  context: (options?: { signal?: AbortSignal }) => ToolContext;
  /** A call of every tool that works, by name. */
  samples: Readonly<Record<string, () => Record<string, unknown>>>;
  /** Tools that read what is stored here and ask nobody: nothing can go wrong on the way. */
  local?: readonly string[];
  /** How the vendor says that a token is over. */
  tokenRefusal: Reply;
  /** How it says that it is asked too often, and the seconds to wait that it names. */
  slowDown: { reply: Reply; seconds: number };
  /** A refusal of this one request, and the vendor's own code for it. */
  refusal: { reply: Reply; code: string };
  secrets: readonly string[];
}

const MEMORY_BYTES_MAX = 120_000_000;

export function tryFaults(trial: FaultTrial): void {
  const { connector, samples } = trial;
  const call = (name: string, options?: { signal?: AbortSignal }) =>
    runTool(connector, name, {
      args: (samples[name] as () => Record<string, unknown>)(),
      context: trial.context(options),
    });
  const failureOf = async (work: Promise<unknown>): Promise<ConnectorError> => {
    const error = await work.then(
      () => new Error('it did not fail'),
      (reason: unknown) => reason,
    );
    if (!(error instanceof ConnectorError)) throw error;
    for (const secret of trial.secrets) expect(error.message).not.toContain(secret);
    return error;
  };
  const classOf = (name: string) => connector.tools.find((tool) => tool.name === name)?.class;

  it('has a sample call of every tool', () => {
    const asked = connector.tools.map(({ name }) => name).filter((name) => !trial.local?.includes(name));
    expect(Object.keys(samples).sort()).toEqual(asked.sort());
  });

  it.each(Object.keys(samples))(
    '%s: every answer of a vendor that is no success has one meaning',
    async (name) => {
      const server = trial.server();
      server.failNext({ kind: 'reply', reply: trial.tokenRefusal });
      expect(await failureOf(call(name))).toMatchObject({ code: 'token_expired' });
      server.failNext({ kind: 'reply', reply: trial.slowDown.reply });
      expect(await failureOf(call(name))).toMatchObject({
        code: 'rate_limited',
        retryAfterSeconds: trial.slowDown.seconds,
      });
      server.failNext({ kind: 'reply', reply: trial.refusal.reply });
      expect(await failureOf(call(name))).toMatchObject({
        code: 'platform_error',
        platformCode: trial.refusal.code,
      });
    },
  );

  it.each(Object.keys(samples))(
    '%s: a passing fault is retried where nothing can happen twice',
    async (name) => {
      const server = trial.server();
      for (const fault of [
        { kind: 'reply', reply: { status: 503 } },
        { kind: 'broken_json' },
        { kind: 'drop' },
      ] as const) {
        const before = server.received.length;
        // A tool may have to read before it writes; what must not happen twice is the write.
        server.failNext(fault, ({ method }) => classOf(name) !== 'W' || method !== 'GET');
        const outcome = await call(name).then(
          () => 'done',
          (error: ConnectorError) => error.code,
        );
        if (classOf(name) === 'R') expect(outcome).toBe('done');
        else if (classOf(name) === 'W') {
          expect(outcome).toBe('platform_unavailable');
          const writes = server.received.slice(before).filter(({ method }) => method === 'POST');
          expect(new Set(writes.map(({ path }) => path)).size).toBe(writes.length);
        }
      }
    },
  );

  it('does not follow a redirect, wait for ever, or keep an endless answer', async () => {
    const server = trial.server();
    const [read] = Object.keys(samples).filter((name) => classOf(name) === 'R') as [string];
    const redirect = { kind: 'redirect', to: 'http://169.254.169.254/latest/meta-data' } as const;
    server.failNext(redirect);
    server.failNext(redirect);
    expect(await failureOf(call(read))).toMatchObject({ code: 'platform_unavailable' });
    const before = process.memoryUsage().rss;
    server.failNext({ kind: 'endless' });
    server.failNext({ kind: 'endless' });
    expect(await failureOf(call(read))).toMatchObject({ code: 'platform_unavailable' });
    expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_BYTES_MAX);
    server.failNext({ kind: 'silent' });
    await expect(call(read, { signal: AbortSignal.timeout(200) })).rejects.toThrow();
  });

  it('takes no id that leads elsewhere', async () => {
    const server = trial.server();
    const hostile = [
      '../../admin',
      '..',
      'a/b',
      'a%2fb',
      'a\r\nx: y',
      'a\u0000',
      'http://evil.test/',
      '\u202e1',
      '１２３',
      '',
    ];
    for (const name of Object.keys(samples)) {
      const args = (samples[name] as () => Record<string, unknown>)();
      for (const field of Object.keys(args).filter((key) =>
        /(^|_)(id|uri|urn|ts|channel|emoji)$/.test(key),
      )) {
        for (const value of hostile) {
          const before = server.received.length;
          const work = runTool(connector, name, {
            args: { ...args, [field]: value },
            context: trial.context(),
          });
          expect(await failureOf(work), `${name} ${field}=${JSON.stringify(value)}`).toMatchObject({
            code: 'invalid_arguments',
          });
          expect(server.received.length).toBe(before);
        }
      }
    }
  });
}
