// The same trials for every platform: whatever goes wrong between us and a vendor ends in a clear error of ours, with
// nothing sent twice and no secret shown.
import { expect, it } from 'vitest';
import {
  type Connector,
  ConnectorError,
  type ToolContext,
} from '../../services/toolhub/src/connectors/connector.ts';
import { runTool } from '../../services/toolhub/src/connectors/test/tool-runner.ts';
import type { Received, Reply, VendorServer } from './vendor-server.ts';

export interface FaultTrial {
  connector: Connector;
  server: () => VendorServer;
  context: (options?: { signal?: AbortSignal }) => ToolContext;
  /** A call of every tool that works, by name. */
  samples: Readonly<Record<string, () => Record<string, unknown>>>;
  /** Tools that read what is stored here and ask nobody: nothing can go wrong on the way. */
  local?: readonly string[];
  /** Of the requests of these tools only those count that this is true of: what comes before them changes nothing for anybody. */
  counting?: Readonly<Record<string, (request: Received) => boolean>>;
  /** How the vendor says that a token is over. */
  tokenRefusal: Reply;
  /** How it says that it is asked too often, and the seconds to wait that it names. */
  slowDown: { reply: Reply; seconds: number };
  /** A refusal of this one request, and the vendor's own code for it. */
  refusal: { reply: Reply; code: string };
  /** What else it says, and what each of it means. */
  meanings: readonly (readonly [reply: Reply, means: Meaning])[];
  secrets: readonly string[];
}

type Meaning = Partial<Pick<ConnectorError, 'code' | 'platformCode' | 'retryAfterSeconds'>>;

/** In the vendor's own words, or by the status alone. */
const NOT_AVAILABLE: Reply = { status: 503, json: { message: 'come again later' } };
const NOT_AVAILABLE_ALONE: Reply = { status: 503 };
/** From a gateway that lost the answer. */
const LOST: Reply = { status: 503, text: '<html>Backend fetch failed</html>' };
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

  it('takes every word of the vendor for what it means', async () => {
    const server = trial.server();
    const read = Object.keys(samples).findLast((name) => classOf(name) === 'R') as string;
    for (const [reply, means] of trial.meanings) {
      server.failNext({ kind: 'reply', reply });
      // What passes is asked for once more.
      if (means.code === 'platform_unavailable') server.failNext({ kind: 'reply', reply });
      expect(await failureOf(call(read)), JSON.stringify(reply)).toMatchObject(means);
    }
  });

  it('says of an account what the vendor says of it: refused, asked too often, or over', async () => {
    const meet = (reply: Reply) => trial.server().failNext({ kind: 'reply', reply });
    meet(trial.refusal.reply);
    const rejected = await connector.verify(trial.context());
    expect(rejected).toMatchObject({ kind: 'rejected' });
    for (const secret of trial.secrets) expect(JSON.stringify(rejected)).not.toContain(secret);
    meet(trial.slowDown.reply);
    expect(await failureOf(connector.verify(trial.context()))).toMatchObject({ code: 'rate_limited' });
    for (const [reply, status] of [
      [trial.refusal.reply, 'down'],
      [trial.slowDown.reply, 'degraded'],
      [trial.tokenRefusal, 'token_expired'],
    ] as const) {
      meet(reply);
      expect(await connector.health(trial.context()), JSON.stringify(reply)).toMatchObject({ status });
    }
  });

  it.each(Object.keys(samples))(
    '%s: a passing fault is retried where nothing can happen twice',
    async (name) => {
      const server = trial.server();
      for (const fault of [
        { kind: 'reply', reply: NOT_AVAILABLE },
        { kind: 'reply', reply: NOT_AVAILABLE_ALONE },
        { kind: 'reply', reply: LOST },
        { kind: 'reply', reply: { status: 502 } },
        { kind: 'reply', reply: { status: 504 } },
        { kind: 'broken_json' },
        { kind: 'drop' },
      ] as const) {
        const before = server.received.length;
        // A tool may have to read before it writes; what must not happen twice is the write.
        const counts = trial.counting?.[name] ?? (({ method }: Received) => method !== 'GET');
        server.failNext(fault, (request) => classOf(name) !== 'W' || counts(request));
        const outcome = await call(name).catch((error: ConnectorError) => error);
        if (classOf(name) === 'R') expect(outcome).not.toBeInstanceOf(Error);
        else if (classOf(name) === 'W') {
          // Where no answer came, one that nobody can read, or a gateway's, it may have been done: that is not given back.
          const nothingDone =
            fault.kind === 'reply' && (fault.reply === NOT_AVAILABLE || fault.reply === NOT_AVAILABLE_ALONE);
          expect(outcome, JSON.stringify(fault)).toMatchObject({
            ...{ code: 'platform_unavailable', nothingDone, outcomeOpen: !nothingDone },
          });
          const writes = server.received.slice(before).filter(({ method }) => method === 'POST');
          expect(new Set(writes.map(({ path }) => path)).size).toBe(writes.length);
        }
      }
    },
  );

  it.each(Object.keys(samples).filter((name) => classOf(name) === 'W' || classOf(name) === 'D'))(
    '%s: where what is read before the change cannot be read, nothing was done',
    async (name) => {
      const server = trial.server();
      const asked = server.received.length;
      await call(name);
      if (!server.received.slice(asked).some(({ method }) => method === 'GET')) return;
      for (const fault of [{ kind: 'reply', reply: { status: 503 } }, { kind: 'drop' }] as const) {
        // A read is asked for twice.
        for (let time = 0; time < 2; time += 1) server.failNext(fault, ({ method }) => method === 'GET');
        const before = server.received.length;
        expect(await failureOf(call(name)), fault.kind).toMatchObject({
          ...{ code: 'platform_unavailable', nothingDone: true, outcomeOpen: false },
        });
        expect(server.received.slice(before).map(({ method }) => method)).toEqual(['GET', 'GET']);
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
    server.failNext({ kind: 'huge' });
    expect(await failureOf(call(read))).toMatchObject({ code: 'platform_unavailable' });
    expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_BYTES_MAX);
    server.failNext({ kind: 'silent' });
    await expect(call(read, { signal: AbortSignal.timeout(200) })).rejects.toThrow();
  });

  it.each(['R', 'W'])(
    'class %s: half an answer is none, and a caller who cancels waits no longer',
    async (wanted) => {
      const server = trial.server();
      const name = Object.keys(samples).find((one) => classOf(one) === wanted);
      if (name === undefined) return;
      const isIt = ({ method }: { method: string }) => wanted === 'R' || method !== 'GET';
      server.failNext({ kind: 'cut' }, isIt);
      const outcome = call(name).then(
        () => 'done',
        (error: ConnectorError) => error.code,
      );
      expect(await outcome).toBe(wanted === 'R' ? 'done' : 'platform_unavailable');
      server.failNext({ kind: 'silent' }, isIt);
      const before = server.received.filter(isIt).length;
      const abort = new AbortController();
      const sent = call(name, { signal: abort.signal });
      await expect.poll(() => server.received.filter(isIt).length, { interval: 5 }).toBeGreaterThan(before);
      abort.abort(new Error('cancelled by the caller'));
      await expect(sent).rejects.toThrow('cancelled by the caller');
    },
  );

  tryIds({
    ...{ connector, context: () => trial.context() },
    samples: Object.fromEntries(Object.entries(samples)),
    asked: () => trial.server().received.length,
  });
}

/** What leads elsewhere in an address or a header, whatever it stands in for. */
const PARTING = [
  ...['../../admin', '..', 'a/b', 'a%2fb', 'a%2Fb', '..%2f', 'a\\b', 'a?b=c', 'a#b', 'a\r\nx: y'],
  ...['a\u0000', 'http://evil.test/', 'a\u2044b', 'a\uff0fb', ''],
];
/** Characters that look like others: refused where an id is wanted. */
const LOOK_ALIKES = ['\u202e1', '１２３', '1\u200b', 'с1', '٣'];
const IDS = /(^|_)(ids?|uids?|uri|urn|ts|channel|emoji)$/;

export interface IdTrial {
  connector: Connector;
  context: () => ToolContext;
  samples: Readonly<Record<string, () => Record<string, unknown>>>;
  /** How many requests left so far. */
  asked: () => number;
}

/** Every argument that is an id, or has a pattern, takes nothing that leads elsewhere; nothing is sent for it. */
export function tryIds({ connector, context, samples, asked }: IdTrial): void {
  it('takes no id that leads elsewhere', async () => {
    let tried = 0;
    for (const { name, inputSchema } of connector.tools) {
      const sample = samples[name]?.();
      if (sample === undefined) continue;
      for (const [field, schema] of Object.entries(inputSchema.properties)) {
        const hostile = hostileFor(field, schema as FieldSchema);
        const isList = (schema as FieldSchema).type === 'array';
        for (const value of hostile) {
          const before = asked();
          const args = { ...sample, [field]: isList ? [value] : value };
          const error = await runTool(connector, name, { args, context: context() }).catch(
            (thrown) => thrown,
          );
          expect(error, `${name} ${field}=${JSON.stringify(value)}`).toMatchObject({
            code: 'invalid_arguments',
          });
          expect(asked(), `${name} ${field}=${JSON.stringify(value)}`).toBe(before);
          tried += 1;
        }
      }
    }
    // A platform whose tools take no id at all has nothing to try.
    expect(tried).toBeGreaterThan(0);
  });
}

interface FieldSchema {
  type?: string;
  pattern?: string;
  items?: FieldSchema;
  anyOf?: FieldSchema[];
}

function hostileFor(field: string, schema: FieldSchema): readonly string[] {
  const { pattern } = schema.items ?? schema;
  const isId = IDS.test(field);
  if (!isId && pattern === undefined) return [];
  // An address of something on the web is one, and leads where it says; what the vendor does with it is the vendor's.
  if (pattern?.startsWith('^http')) return ['a\r\nx: y', 'javascript:alert(1)', 'file:///etc/passwd', ''];
  // A name in the letters of any script is no id, although it stands where one does.
  const isName = pattern?.includes('\\p{Lo}') ?? false;
  return isId && !isName ? [...PARTING, ...LOOK_ALIKES] : PARTING;
}
