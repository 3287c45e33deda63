import type { Benchmark } from '../result.ts';
import { compare, mcpLoad, startHub, startPeer } from './setup.ts';

/** T2: the list of 80 tools, with a token, against the SDK's McpServer without one. */
export const benchmark: Benchmark = {
  name: 'toolhub list',
  async run() {
    const hub = await startHub();
    const peer = await startPeer();
    try {
      const [ours = 0, other = 0] = await compare([
        mcpLoad({ url: hub.url, path: '/mcp', token: hub.token }, 'tools/list'),
        mcpLoad({ url: peer.url, path: '/per-request' }, 'tools/list'),
      ]);
      return [
        {
          ...{ id: 'T2', what: 'tools/list of 80 tools, against McpServer', unit: '/s' },
          ...{ ours, other, bar: { kind: 'at least', value: 10 } },
        },
      ];
    } finally {
      await hub.stop();
      await peer.stop();
    }
  },
};
