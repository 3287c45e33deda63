// What mail servers leave out or do otherwise within the protocol, as Courier does it: folders below `INBOX.`, no uses of folders,
// and no number of the next message when a folder is opened.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEmailConnector } from '../../../services/toolhub/src/connectors/email/connector.ts';
import {
  type HostileServer,
  startHostileImap,
} from '../../../services/toolhub/src/connectors/email/test/hostile-imap-server.ts';
import {
  closeTestContexts,
  runTool,
  testContext,
} from '../../../services/toolhub/src/connectors/test/tool-runner.ts';

const connector = createEmailConnector();
const CAPABILITIES = 'IMAP4rev1 UIDPLUS CHILDREN NAMESPACE';
const OPENED = '* FLAGS (\\Seen \\Deleted)\r\n* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n';
let imap: HostileServer;
const lines: string[] = [];

beforeAll(async () => {
  imap = await startHostileImap({
    greeting: `* OK [CAPABILITY ${CAPABILITIES}] ready\r\n`,
    CAPABILITY: `* CAPABILITY ${CAPABILITIES}\r\n`,
    NAMESPACE: '* NAMESPACE (("INBOX." ".")) NIL (("#shared." "."))\r\n',
    LIST: '* LIST () "." INBOX\r\n* LIST () "." "INBOX.Trash"\r\n* LIST () "." "INBOX.Entw&APw-rfe"\r\n',
    EXAMINE: OPENED,
    SELECT: OPENED,
    FETCH: '* 3 FETCH (UID 3)\r\n',
    CREATE: ({ line, ok }) => {
      lines.push(line);
      return ok();
    },
    'UID COPY': ({ tag, line, write }) => {
      lines.push(line);
      return write(`${tag} OK [COPYUID 9 1 5] done\r\n`);
    },
  });
});
afterAll(async () => {
  await connector.close?.();
  await closeTestContexts();
  await imap.stop();
});

function call<Result = Record<string, unknown>>(name: string, args: Record<string, unknown>) {
  const server = { host: '127.0.0.1', port: imap.port, secure: false, user: 'u', password: 'p' };
  const credential = { imap: server, smtp: server, from: 'someone@mail.test' };
  const context = testContext({ platform: 'email', credential, allow: [`127.0.0.1:${imap.port}`] });
  return runTool<Result>(connector, name, { args, context });
}

it('finds messages where the server does not say which number comes next', async () => {
  const page = await call<{ items: { uid: number }[]; next_cursor: null }>('email_search_messages', {});
  expect(page).toMatchObject({ items: [{ uid: 3 }, { uid: 2 }, { uid: 1 }], next_cursor: null });
  const threads = await call<{ items: unknown[] }>('email_list_threads', {});
  expect(threads).toMatchObject({ items: { length: 3 }, next_cursor: null });
});

it('knows folders below a prefix by the names that the list shows', async () => {
  const { items } = await call<{ items: { path: string }[] }>('email_list_folders', {});
  expect(items.map(({ path }) => path)).toEqual(['INBOX', 'INBOX.Entwürfe', 'INBOX.Trash']);
  expect(await call('email_create_folder', { name: 'Trash' })).toEqual({
    ...{ path: 'INBOX.Trash', created: false },
  });
  expect(await call('email_create_folder', { name: 'Neu' })).toEqual({ path: 'INBOX.Neu', created: true });
  expect(await call('email_create_folder', { name: 'März', parent_folder: 'INBOX.Entwürfe' })).toEqual({
    path: 'INBOX.Entwürfe.März',
    created: true,
  });
  expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual([
    'CREATE INBOX.Neu',
    'CREATE INBOX.Entw&APw-rfe.M&AOQ-rz',
  ]);
});

it('finds the trash by its name, and moves without MOVE', async () => {
  lines.length = 0;
  expect(await call('email_delete_messages', { folder: 'INBOX', uids: [1] })).toMatchObject({
    ...{ trash_folder: 'INBOX.Trash', deleted: [{ uid: 1, new_uid: 5 }] },
  });
  expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual(['UID COPY 1 INBOX.Trash']);
});
