// The guard stands between the socket and the parser on every way there: plain, after STARTTLS, and in time.
import { ImapFlow } from 'imapflow';
import { afterEach, describe, expect, it } from 'vitest';
import { makeSelfSigned } from '../../../../../../libs/egress/test/self-signed.ts';
import type { Connector, ToolContext } from '../../connector.ts';
import { closeTestContexts, runTool, testContext } from '../../test/tool-runner.ts';
import { createEmailConnector } from '../connector.ts';
import {
  type FaultFor,
  type HostileServer,
  type ImapReply,
  type ImapScript,
  startHostileImap,
  upgradeWith,
} from '../test/hostile-imap-server.ts';
import { guardClient } from './guard.ts';

const BRACKETS = `* LIST () "/" ${'['.repeat(200_000)}\r\n`;
const servers: HostileServer[] = [];
const connectors: Connector[] = [];

afterEach(async () => {
  await Promise.all(connectors.splice(0).map((connector) => connector.close?.()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await closeTestContexts();
});

async function contextFor(script: ImapScript, faultFor?: FaultFor): Promise<ToolContext> {
  const server = await startHostileImap(script, faultFor);
  servers.push(server);
  const place = { host: '127.0.0.1', port: server.port, secure: false, user: 'u', password: 'p' };
  const credential = { imap: place, smtp: place, from: 'a@mail.test' };
  return testContext({ platform: 'email', credential, allow: [`127.0.0.1:${server.port}`] });
}

async function listFolders(script: ImapScript): Promise<unknown> {
  const connector = createEmailConnector();
  connectors.push(connector);
  return runTool(connector, 'email_list_folders', { args: {}, context: await contextFor(script) });
}

describe('the guard of IMAP connections', () => {
  const identity = makeSelfSigned(['localhost']);
  const greeting = '* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n';

  it('refuses to stand nowhere: a library without its insides is not used', () => {
    expect(() => guardClient({} as ImapFlow)).toThrow(/no stream to guard/);
    const client = new ImapFlow({
      host: 'mail.example',
      port: 993,
      auth: { user: 'u', pass: 'p' },
      logger: false,
    });
    expect(guardClient(client).failure).toBeNull();
  });

  it('lists all folders where one has a long path outside of ASCII', async () => {
    const level = `&${'BDAEOwQw'.repeat(30)}-`;
    const path = `${level}/${level}/${level}`;
    const listed = await listFolders({
      LIST: `* LIST () "/" INBOX\r\n* LIST () "/" ${path}\r\n`,
      STATUS: ({ line, write, ok }) => {
        const asked = line.includes(level) ? path : 'INBOX';
        return write(`* STATUS ${asked} (MESSAGES 3 UNSEEN 1)\r\n`).then(ok);
      },
    });
    const name = 'ала'.repeat(30);
    expect(listed).toMatchObject({
      items: [{ path: 'INBOX' }, { path: `${name}/${name}/${name}`, messages: 3 }],
    });
  });

  it('holds after STARTTLS', async () => {
    const STARTTLS = upgradeWith(identity, {
      LIST: BRACKETS,
      CAPABILITY: '* CAPABILITY IMAP4rev1 NAMESPACE\r\n',
    });
    await expect(listFolders({ greeting, STARTTLS })).rejects.toMatchObject({
      code: 'platform_error',
      platformCode: 'ANSWER_TOO_LARGE',
    });
    const honest = upgradeWith(identity, { CAPABILITY: '* CAPABILITY IMAP4rev1 NAMESPACE\r\n' });
    expect(await listFolders({ greeting, STARTTLS: honest })).toMatchObject({
      items: [{ path: 'INBOX' }, {}],
    });
  });

  it.each(['* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n', '* OK half a li', '1 OK again\r\n* BYE\r\n'])(
    'takes nothing for encrypted that came before: %j',
    async (injected) => {
      const STARTTLS = upgradeWith(identity, {}, injected);
      await expect(listFolders({ greeting, STARTTLS })).rejects.toMatchObject({ name: 'ConnectorError' });
    },
  );

  it('is not logged in where the server hangs up at once', async () => {
    const context = await contextFor({ NOOP: ({ socket }) => void socket.destroy() });
    const connector = createEmailConnector();
    connectors.push(connector);
    expect(await connector.health(context)).toMatchObject({ status: 'down' });
  });

  it('ends a command that goes on and on', async () => {
    const server = await startHostileImap({
      NOOP: async ({ socket, write }) => {
        while (!socket.destroyed) {
          await write('* 1 EXISTS\r\n');
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      },
    });
    servers.push(server);
    const auth = { user: 'u', pass: 'p' };
    const client = new ImapFlow({ host: '127.0.0.1', port: server.port, secure: false, auth, logger: false });
    client.on('error', () => {});
    const guard = guardClient(client, { commandMsMax: 200 });
    await client.connect();
    // The library itself takes a NOOP that failed for none; the guard does not.
    await client.noop();
    expect(guard.failure).toMatchObject({ code: 'platform_unavailable' });
  });
});

describe('a kept connection that is lost under a call', () => {
  type Lost = { at: string; tool: string; args: Record<string, unknown> };
  const move = { tool: 'email_move_messages', args: { folder: 'INBOX', uids: [1], target_folder: 'Trash' } };
  const search = { tool: 'email_search_messages', args: { folder: 'INBOX' } };
  const hangUp: ImapReply = ({ socket }) => void socket.destroy();

  /** The server hangs up at this command, and turns the next connection away. */
  async function loseConnection({ at, tool, args }: Lost, turnAway: Record<string, ImapReply>) {
    const connector = createEmailConnector();
    connectors.push(connector);
    let isLosing = false;
    let isLost = false;
    const context = await contextFor({}, (command) => {
      if (isLost) return turnAway[command];
      if (!isLosing || command !== at) return undefined;
      isLost = true;
      return hangUp;
    });
    await runTool(connector, 'email_list_folders', { args: {}, context });
    isLosing = true;
    return runTool(connector, tool, { args, context });
  }

  it.each<[string, Record<string, ImapReply>]>([
    ['that is hung up on', { LOGIN: hangUp }],
    ['that is told to slow down', { LOGIN: ({ tag, write }) => write(`${tag} NO [LIMIT] later\r\n`) }],
  ])('leaves open what became of a change, also after a retry %s', async (_what, turnAway) => {
    await expect(loseConnection({ at: 'UID MOVE', ...move }, turnAway)).rejects.toMatchObject({
      ...{ code: 'platform_unavailable', outcomeOpen: true },
    });
  });

  it.each<[string, Lost]>([
    ['before the change was asked for', { at: 'SELECT', ...move }],
    ['under a read', { at: 'UID FETCH', ...search }],
  ])('has done nothing %s', async (_what, lost) => {
    await expect(loseConnection(lost, { LOGIN: hangUp })).rejects.toMatchObject({
      ...{ code: 'platform_unavailable', outcomeOpen: false },
    });
  });
});
