import type { Benchmark } from '../result.ts';
import { compare, mcpLoad, middleRates, openSession, startHub, startPeer } from './setup.ts';

/** T1, T2: a tool call and a list of 80 tools with everything around them, against the SDK with nothing around it. */
export const benchmark: Benchmark = {
  name: 'toolhub call, list',
  async run() {
    const [hub, peer] = await Promise.all([startHub(), startPeer()]);
    try {
      const session = await openSession(`${peer.url}/long-lived`);
      const atHub = { url: hub.url, path: '/mcp', token: hub.token };
      const perRequest = { url: peer.url, path: '/per-request' };
      const calls = [
        mcpLoad(atHub, 'tools/call'),
        mcpLoad(perRequest, 'tools/call'),
        mcpLoad({ url: peer.url, path: '/long-lived', session }, 'tools/call'),
      ];
      const lists = [mcpLoad(atHub, 'tools/list'), mcpLoad(perRequest, 'tools/list')];
      const [called = 0, calledPerRequest = 0, calledLongLived = 0] = middleRates(await compare(calls));
      const [listed = 0, listedPerRequest = 0] = middleRates(await compare(lists, { seconds: 1 }));
      return [
        {
          ...{ id: 'T1', what: 'tools/call, all durable, against McpServer', unit: '/s' },
          ...{ ours: called, other: calledPerRequest, bar: { kind: 'at least', value: 2.5 } },
        },
        // One server for one client with a session, as no server for many customers can run it.
        {
          ...{ id: 'T1b', what: 'the same, against a long-lived low-level server', unit: '/s' },
          ...{ ours: called, other: calledLongLived, bar: { kind: 'at least', value: 0.8 } },
        },
        {
          ...{ id: 'T2', what: 'tools/list of 80 tools, against McpServer', unit: '/s' },
          ...{ ours: listed, other: listedPerRequest, bar: { kind: 'at least', value: 10 } },
        },
      ];
    } finally {
      await hub.stop();
      await peer.stop();
    }
  },
};
