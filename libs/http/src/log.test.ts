// Lines are JSON, carry the ids, and never a secret.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AppError, createLogger, parseTraceparent, scrubText } from '@libs/runtime';
import { describe, expect, test } from 'vitest';
import { createTestApp } from '../test/test-app.ts';

function memory(): { lines: Record<string, unknown>[]; text: () => string; write: (line: string) => void } {
  const written: string[] = [];
  return {
    get lines() {
      return written.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    text: () => written.join(''),
    write: (line) => written.push(line),
  };
}

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('redaction', () => {
  test('secrets are taken out by name, at any depth, in any spelling', () => {
    const destination = memory();
    const log = createLogger({ name: 'test', level: 'info', destination });
    const secrets = {
      headers: { Authorization: 'Bearer s3cr3t-a', cookie: 's3cr3t-b', 'Set-Cookie': ['s3cr3t-c'] },
      user: {
        password: 's3cr3t-d',
        nested: { refresh_token: 's3cr3t-e', list: [{ clientSecret: 's3cr3t-f' }] },
      },
      account_number: 's3cr3t-g',
      webhookSecret: 's3cr3t-h',
      visible: 'yes',
    };
    log.info(secrets, 'hello');
    log.child({ apiKey: 's3cr3t-i', customer: 'cus_1' }).warn({ token: 's3cr3t-j' }, 'child');
    expect(destination.text()).not.toContain('s3cr3t');
    expect(destination.lines[0]).toMatchObject({
      level: 'info',
      service: 'test',
      msg: 'hello',
      visible: 'yes',
      user: {
        password: '[redacted]',
        nested: { refresh_token: '[redacted]', list: [{ clientSecret: '[redacted]' }] },
      },
    });
    expect(destination.lines[1]).toMatchObject({ customer: 'cus_1', apiKey: '[redacted]' });
    expect(secrets.user.password).toBe('s3cr3t-d');
  });

  test('an OAuth code is a secret, an error code is not', () => {
    const destination = memory();
    const log = createLogger({ name: 'test', level: 'info', destination });
    log.info({ code: 'Zk3J-9f8s7d6f5g4h3j2k1l' });
    log.info({ code: 'payment_not_found' });
    log.info({ code: 'ECONNREFUSED' });
    expect(destination.lines.map((line) => line.code)).toEqual([
      '[redacted]',
      'payment_not_found',
      'ECONNREFUSED',
    ]);
  });

  test('errors keep message, code, stack and cause, without the rows and secrets that drivers hang on them', () => {
    const destination = memory();
    const log = createLogger({ name: 'test', level: 'info', destination });
    const cause = Object.assign(new Error('connect postgres://admin:hunter2@db/x'), { code: 'ECONNREFUSED' });
    const error = Object.assign(new Error('refused Bearer abc.def for sk_live_12345', { cause }), {
      detail: 'Key (email)=(a@b.c)',
      row: { password: 'hunter2' },
    });
    log.error({ err: error }, 'failed');
    const text = destination.text();
    expect(text).not.toMatch(/hunter2|abc\.def|sk_live_1|a@b\.c/);
    expect(destination.lines[0]?.err).toMatchObject({
      type: 'Error',
      message: 'refused Bearer [redacted] for sk_live_[redacted]',
      cause: { code: 'ECONNREFUSED', message: 'connect postgres://[redacted]@db/x' },
    });
  });

  test('free text is scrubbed', () => {
    expect(scrubText('whsec_abc= Basic dXNlcg== https://u:p@h/x')).toBe(
      'whsec_[redacted] Basic [redacted] https://[redacted]@h/x',
    );
  });
});

test.each(['exit', 'throw', 'wait'])('no line is lost when the process ends: %s', async (ending) => {
  const source = `
    import { createLogger } from ${JSON.stringify(new URL('../../runtime/src/log.ts', import.meta.url).href)};
    const log = createLogger({ name: 'ending', level: 'info' });
    for (let i = 0; i < 200; i++) log.info({ i }, 'line');
    if (${JSON.stringify(ending)} === 'exit') process.exit(0);
    if (${JSON.stringify(ending)} === 'throw') throw new Error('on purpose');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  await once(child, 'close');
  const lines = out.trimEnd().split('\n');
  // What was being written when the process ended may come out after the rest; nothing may be missing.
  const numbers = lines.map((line) => (JSON.parse(line) as { i: number }).i).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, i) => i));
});

describe('requests', () => {
  test('leave one line with ids, route, status and time, and nothing of what was sent', async () => {
    const destination = memory();
    const app = await createTestApp({ logLevel: 'info', logDestination: destination });
    await app.inject({
      method: 'POST',
      url: '/v1/things/secret-id/cancel?code=s3cr3t',
      headers: {
        authorization: 'Bearer s3cr3t',
        cookie: 'session=s3cr3t',
        traceparent: TRACEPARENT,
        'x-request-id': 'my-request-1',
        'content-type': 'application/json',
      },
      payload: { password: 's3cr3t' },
    });
    await app.inject('/v1/nothing?token=s3cr3t');
    await app.inject('/healthz');
    await app.close();
    expect(destination.text()).not.toContain('s3cr3t');
    const requests = destination.lines.filter((line) => line.msg === 'request');
    expect(requests).toHaveLength(2);
    expect(requests[0]).toMatchObject({
      level: 'info',
      service: 'things',
      pid: process.pid,
      request_id: 'my-request-1',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      parent_id: '00f067aa0ba902b7',
      method: 'POST',
      route: '/v1/things/:id/cancel',
      status: 200,
      duration_ms: expect.any(Number),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(requests[1]).toMatchObject({ route: 'unmatched', status: 404 });
  });

  test('a failure is logged with its stack under the request id, and the caller sees none of it', async () => {
    const destination = memory();
    const app = await createTestApp({ logLevel: 'error', logDestination: destination });
    const answer = await app.inject({ url: '/boom', headers: { traceparent: TRACEPARENT } });
    await app.close();
    expect(destination.lines).toHaveLength(1);
    expect(destination.lines[0]).toMatchObject({
      level: 'error',
      request_id: answer.json().request_id,
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      err: {
        message: expect.stringContaining('the database said'),
        stack: expect.stringContaining('test-app.ts'),
      },
    });
    expect(destination.text()).not.toContain('sk_live_abcdef');
  });

  test('an outage is logged with its cause', async () => {
    const destination = memory();
    const app = await createTestApp({
      logLevel: 'info',
      logDestination: destination,
      readiness: () => Promise.reject(new Error('no database')),
    });
    app.get('/down', async () => {
      throw new AppError('unavailable', 'rail_down', 'The rail is down.', {
        cause: new Error('connect timeout'),
      });
    });
    expect((await app.inject('/down')).statusCode).toBe(503);
    await app.inject('/readyz');
    await app.close();
    const warnings = destination.lines.filter((line) => line.level === 'warn');
    expect(warnings).toMatchObject([
      { msg: 'request refused', code: 'rail_down', err: { message: 'connect timeout' } },
      { msg: 'request refused', code: 'not_ready', err: { message: 'no database' } },
    ]);
  });

  test('the level is obeyed', async () => {
    const destination = memory();
    const app = await createTestApp({ logLevel: 'warn', logDestination: destination });
    app.get('/chatty', async (request) => {
      request.log.info('quiet');
      request.log.warn({ a: 1 }, 'loud');
      request.log.child({ part: 'x' }).warn('loud child');
      return {};
    });
    await app.inject('/chatty');
    await app.close();
    expect(destination.lines.map((line) => line.msg)).toEqual(['loud', 'loud child']);
    expect(destination.lines[1]).toMatchObject({ part: 'x', request_id: expect.stringMatching(/^req_/) });
  });
});

describe('traceparent', () => {
  test.each([
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', true],
    ['cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra', true],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra', false],
    ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', false],
    ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', false],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', false],
    ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', false],
    ['"}', false],
    [undefined, false],
  ])('%s: %s', (header, valid) => {
    expect(parseTraceparent(header) !== undefined).toBe(valid);
  });

  test('tells whether the trace is recorded', () => {
    expect(parseTraceparent(TRACEPARENT)?.sampled).toBe(true);
    expect(parseTraceparent(TRACEPARENT.replace(/01$/, '00'))?.sampled).toBe(false);
  });
});
