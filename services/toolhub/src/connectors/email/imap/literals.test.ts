// What leaves beyond ASCII, byte by byte: a server need not take it between quotes.
import { afterEach, describe, expect, it } from 'vitest';
import type { Connector } from '../../connector.ts';
import { closeTestContexts, runTool, testContext } from '../../test/tool-runner.ts';
import { createEmailConnector } from '../connector.ts';
import {
  type HostileServer,
  type ImapReply,
  type ImapScript,
  startHostileImap,
} from '../test/hostile-imap-server.ts';

const connectors: Connector[] = [];
const servers: HostileServer[] = [];

afterEach(async () => {
  await Promise.all(connectors.splice(0).map((connector) => connector.close?.()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await closeTestContexts();
});

/** The lines of a search and of the login before it, in which each character stands for a byte. */
async function linesOf(args: object, { password = 'p', script = {} as ImapScript } = {}): Promise<string[]> {
  const lines: string[] = [];
  const note: ImapReply = ({ line, ok }) => {
    lines.push(line);
    return ok();
  };
  const server = await startHostileImap({ ...script, LOGIN: note, 'UID SEARCH': note });
  servers.push(server);
  const place = { host: '127.0.0.1', port: server.port, secure: false, user: 'bøb', password };
  const credential = { imap: place, smtp: place, from: 'a@mail.test' };
  const context = testContext({ platform: 'email', credential, allow: [`127.0.0.1:${server.port}`] });
  const connector = createEmailConnector();
  connectors.push(connector);
  await runTool(connector, 'email_search_messages', { args: { folder: 'INBOX', ...args }, context });
  return lines.map((line) => line.slice(line.indexOf(' ') + 1));
}

const bytes = (text: string) => Buffer.from(text).toString('latin1');

describe('words beyond ASCII', () => {
  it('leave as literals, of as many bytes as they say', async () => {
    const [login, search] = await linesOf(
      { subject: 'Größe "1"', from: 'ann', query: '漢字' },
      { password: 'pässword' },
    );
    expect(login).toBe(`LOGIN {4}${bytes('bøb')} {9}${bytes('pässword')}`);
    expect(search).toContain('CHARSET UTF-8 ');
    expect(search).toContain(` SUBJECT {11}${bytes('Größe "1"')}`);
    expect(search).toContain(` TEXT {6}${bytes('漢字')}`);
    expect(search).toContain(' FROM ann');
  });

  it('leave between quotes where the server has agreed to read UTF-8', async () => {
    const CAPABILITY = '* CAPABILITY IMAP4rev1 ENABLE UTF8=ACCEPT\r\n';
    const ENABLE = '* ENABLED UTF8=ACCEPT\r\n';
    const [, search] = await linesOf({ subject: 'Größe' }, { script: { CAPABILITY, ENABLE } });
    expect(search).toContain(` SUBJECT "${bytes('Größe')}"`);
    expect(search).not.toContain('CHARSET');
  });

  it('are no concern of those within ASCII', async () => {
    const [, search] = await linesOf({ subject: 'size "1"' });
    expect(search).toContain(' SUBJECT "size \\"1\\""');
  });
});
