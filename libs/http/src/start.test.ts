import { once } from 'node:events';
import { createServer } from 'node:net';
import { listen, runMain, SettingsError, StartError, startFailure } from '@libs/runtime';
import { describe, expect, test } from 'vitest';
import { createTestApp } from '../test/test-app.ts';

const isOutage = (error: unknown) =>
  error instanceof Error && error.message.startsWith('Connection terminated');

async function mainWith(error: unknown): Promise<{ written: string; code: number | undefined }> {
  let written = '';
  let code: number | undefined;
  await runMain(() => Promise.reject(error), {
    isOutage,
    write: (line) => {
      written += line;
    },
    exit: (given) => {
      code = given;
    },
  });
  return { written, code };
}

describe('listen', () => {
  test('tells the address it got', async () => {
    const app = await createTestApp();
    const { url, port } = await listen(app, { host: '127.0.0.1', port: 0 });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await app.close();
  });

  test('a taken port names the variable to set', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const app = await createTestApp();
    await expect(listen(app, { host: '127.0.0.1', port, portVariable: 'PAYMENTS_PORT' })).rejects.toThrow(
      new StartError(`port ${port} on 127.0.0.1 is in use: set PAYMENTS_PORT`),
    );
    await app.close();
    other.close();
  });

  test('an address of another machine names the variable to set', async () => {
    const app = await createTestApp();
    await expect(listen(app, { host: '192.0.2.1', port: 0, hostVariable: 'PAYMENTS_HOST' })).rejects.toThrow(
      '192.0.2.1 is not an address of this machine: set PAYMENTS_HOST',
    );
    await app.close();
  });
});

describe('runMain', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'settings',
      new SettingsError(['A is missing', 'B must be x']),
      /^cannot start: bad settings: A is missing; B must be x\n$/,
    ],
    ['start', new StartError('the folder is in use'), /^cannot start: the folder is in use\n$/],
    [
      'database',
      Object.assign(new Error('connect ECONNREFUSED ::1:5432'), { code: 'ECONNREFUSED' }),
      /database does not answer.*\n$/,
    ],
    [
      'wrapped',
      new Error('start', { cause: Object.assign(new Error('EROFS'), { code: 'EROFS' }) }),
      /read-only.*DATA_DIR/,
    ],
    [
      'several addresses',
      new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })]),
      /database does not answer/,
    ],
    [
      'database that goes away',
      new Error('start', { cause: new Error('Connection terminated unexpectedly') }),
      /^cannot start: the database went away \(Connection terminated unexpectedly\): start again when it is back\n$/,
    ],
    ['disk', Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' }), /disk is full/],
    ['rights', Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }), /no right/],
    [
      'no place for a folder',
      Object.assign(new Error("ENOENT: no such file, mkdir '/proc/x'"), { code: 'ENOENT', syscall: 'mkdir' }),
      /no folder can be made there; check DATA_DIR/,
    ],
    [
      'password',
      Object.assign(new Error('password authentication failed'), { code: '28P01' }),
      /refuses the password/,
    ],
    [
      'standby',
      Object.assign(new Error('cannot execute LISTEN during recovery'), { code: '25006' }),
      /takes no writes.*; check the database URL \(cannot execute LISTEN/,
    ],
  ])('%s: one line, exit 1', async (_name, error, line) => {
    const { written, code } = await mainWith(error);
    expect(written).toMatch(line);
    expect(written.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });

  test('a bug keeps its stack', async () => {
    const { written, code } = await mainWith(new TypeError('x is not a function'));
    expect(written).toContain('cannot start: TypeError: x is not a function\n    at ');
    expect(code).toBe(1);
    expect(startFailure(new TypeError('x'))).toBeUndefined();
  });

  test('classes of other libraries whose message is the one line', async () => {
    class FolderInUse extends Error {}
    const wrapped = new Error('start failed', {
      cause: new FolderInUse('the folder is in use by process 7'),
    });
    let written = '';
    await runMain(() => Promise.reject(wrapped), {
      startErrors: [FolderInUse],
      write: (line) => {
        written += line;
      },
      exit: () => {},
    });
    expect(written).toBe('cannot start: the folder is in use by process 7\n');
  });

  test('a main that returns does not exit', async () => {
    let exited = false;
    await runMain(async () => {}, {
      exit: () => {
        exited = true;
      },
    });
    expect(exited).toBe(false);
  });
});
