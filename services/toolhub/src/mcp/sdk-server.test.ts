import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { SdkServer } from './sdk-server.ts';

class Trial extends SdkServer {
  async errorOf(thrown: unknown): Promise<unknown> {
    const handle = this._wrapHandler('ping', () => Promise.reject(thrown));
    return handle({ method: 'ping' } as never, {} as never).catch((error: unknown) => error);
  }
}
const server = new Trial({ name: 'trial', version: '1' });

test('a list of places is told as what does not fit', async () => {
  const issues = [{ path: ['params', 'uri'], message: 'expected string' }];
  const error = await server.errorOf(new Error(JSON.stringify(issues)));
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error).toMatchObject({
    code: ProtocolErrorCode.InvalidParams,
    message: expect.stringContaining('params.uri: expected string'),
  });
});

test.each(['[broken] no list', '{"path":[]}', 'broken'])('%s stays the error that it is', async (message) => {
  const thrown = new Error(message);
  expect(await server.errorOf(thrown)).toBe(thrown);
});
