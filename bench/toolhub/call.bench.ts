import type { Benchmark } from '../result.ts';
import { compare, mcpLoad, openSession, startHub, startPeer } from './setup.ts';

/** T1: a tool call with everything around it, against the SDK's McpServer with nothing around it. */
export const benchmark: Benchmark = {
  name: 'toolhub call',
  async run() {
    const hub = await startHub();
    const peer = await startPeer();
    try {
      const session = await openSession(`${peer.url}/long-lived`);
      const [ours = 0, perRequest = 0, longLived = 0] = await compare([
        mcpLoad({ url: hub.url, path: '/mcp', token: hub.token }, 'tools/call'),
        mcpLoad({ url: peer.url, path: '/per-request' }, 'tools/call'),
        mcpLoad({ url: peer.url, path: '/long-lived', session }, 'tools/call'),
      ]);
      return [
        {
          ...{ id: 'T1', what: 'tools/call, all durable, against McpServer', unit: '/s' },
          ...{ ours, other: perRequest, bar: { kind: 'at least', value: 2.5 } },
        },
        // One server for one client with a session, as no server for many customers can run it.
        {
          ...{ id: 'T1b', what: 'the same, against a long-lived low-level server', unit: '/s' },
          ...{ ours, other: longLived, bar: { kind: 'at least', value: 0.8 } },
        },
      ];
    } finally {
      await hub.stop();
      await peer.stop();
    }
  },
};
