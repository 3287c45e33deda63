import type { Connector } from '../../connector.ts';
import { closeTestContexts, runTool, testContext } from '../../test/tool-runner.ts';
import { createEmailConnector } from '../connector.ts';
import { type HostileServer, type ImapScript, startHostileImap } from './hostile-imap-server.ts';

export type CallTool = <Result>(tool: string, args: object) => Promise<Result>;

/** What a server answers when its folders are listed. */
export const listed = (...folders: string[]) => folders.map((folder) => `* LIST ${folder}\r\n`).join('');

/** Mailboxes on servers that answer by a script, for tests that look at what a tool makes of that or what it sends. */
export function createScriptedMailboxes() {
  const connectors: Connector[] = [];
  const servers: HostileServer[] = [];
  return {
    async callerFor(script: ImapScript, { user = 'u', password = 'p' } = {}): Promise<CallTool> {
      const server = await startHostileImap(script);
      servers.push(server);
      const place = { host: '127.0.0.1', port: server.port, secure: false, user, password };
      const credential = { imap: place, smtp: place, from: 'a@mail.test' };
      const context = testContext({ platform: 'email', credential, allow: [`127.0.0.1:${server.port}`] });
      const connector = createEmailConnector();
      connectors.push(connector);
      return (tool, args) => runTool(connector, tool, { args: { ...args }, context });
    },
    async close(): Promise<void> {
      await Promise.all(connectors.splice(0).map((connector) => connector.close?.()));
      await Promise.all(servers.splice(0).map((server) => server.stop()));
      await closeTestContexts();
    },
  };
}
