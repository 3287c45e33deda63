// What connector-faults.ts tries on the other platforms, on e-mail's two protocols: whatever goes wrong between us and a mail
// server ends in a clear error of ours, with nothing sent or changed twice, no secret shown, and no connection left over.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConnectorError, type ToolContext } from '../../../services/toolhub/src/connectors/connector.ts';
import { createEmailConnector } from '../../../services/toolhub/src/connectors/email/connector.ts';
import {
  fetchAnswer,
  flood,
  type HostileServer,
  type ImapReply,
  partAnswer,
  startHostileImap,
} from '../../../services/toolhub/src/connectors/email/test/hostile-imap-server.ts';
import {
  type SmtpReply,
  startHostileSmtp,
} from '../../../services/toolhub/src/connectors/email/test/hostile-smtp-server.ts';
import {
  closeTestContexts,
  runTool,
  testContext,
} from '../../../services/toolhub/src/connectors/test/tool-runner.ts';

const PASSWORD = 'secret-password-1';
const TOKEN = 'secret-token-1';
const HUGE_BYTES = 50_000_000;
const MEMORY_BYTES_MAX = 120_000_000;
const CAPABILITIES = 'IMAP4rev1 NAMESPACE UIDPLUS MOVE SPECIAL-USE AUTH=XOAUTH2';

/** A call of every tool that works, and the command by which its work is done; SMTP's steps are written small. */
const TRIALS: Record<string, { args: Record<string, unknown>; at: string }> = {
  email_list_folders: { args: {}, at: 'LIST' },
  email_search_messages: { args: {}, at: 'UID SEARCH' },
  email_list_threads: { args: {}, at: 'UID SEARCH' },
  email_get_message: { args: { folder: 'INBOX', uid: 1 }, at: 'UID FETCH' },
  email_get_attachment: { args: { folder: 'INBOX', uid: 1, part_id: '2' }, at: 'UID FETCH' },
  email_send_message: { args: { to: ['a@mail.test'], subject: 's', text: 't' }, at: 'message' },
  email_create_draft: { args: { subject: 's', text: 't' }, at: 'APPEND' },
  email_reply_message: { args: { folder: 'INBOX', uid: 1, text: 't' }, at: 'message' },
  email_update_flags: { args: { folder: 'INBOX', uids: [1], add: ['seen'] }, at: 'UID STORE' },
  email_move_messages: { args: { folder: 'INBOX', uids: [1], target_folder: 'Trash' }, at: 'UID MOVE' },
  email_delete_messages: { args: { folder: 'INBOX', uids: [1] }, at: 'UID MOVE' },
  email_create_folder: { args: { name: 'new' }, at: 'CREATE' },
};
const NAMES = Object.keys(TRIALS);
const isSending = (name: string) => TRIALS[name]?.at === 'message';
const IMAP_TOOLS = NAMES.filter((name) => !isSending(name));
const SMTP_TOOLS = NAMES.filter(isSending);

const STRUCTURE =
  '(("TEXT" "PLAIN" NIL NIL NIL "7BIT" 5 1)("APPLICATION" "PDF" ("NAME" "a.pdf") NIL NIL "BASE64" 8 NIL ("ATTACHMENT" NIL)) "MIXED")';
const connector = createEmailConnector();
let imap: HostileServer;
let smtp: HostileServer & { taken(): number };
/** What happens at the next command, or step, of this name, and at every later one while it is set. */
let fault: { at: string; reply: ImapReply } | undefined;
let smtpFault: { at: string; reply: SmtpReply } | undefined;
let commands: string[] = [];

const honestSmtp: Record<string, string> = {
  ...{ greeting: '220 ready\r\n', EHLO: '250-hello\r\n250-AUTH PLAIN LOGIN XOAUTH2\r\n250 8BITMIME\r\n' },
  ...{ AUTH: '235 welcome\r\n', MAIL: '250 ok\r\n', RCPT: '250 ok\r\n', message: '250 taken\r\n' },
};

beforeAll(async () => {
  imap = await startHostileImap(
    {
      greeting: `* OK [CAPABILITY ${CAPABILITIES}] ready\r\n`,
      CAPABILITY: `* CAPABILITY ${CAPABILITIES}\r\n`,
      LIST: '* LIST () "/" INBOX\r\n* LIST (\\Drafts) "/" Drafts\r\n* LIST (\\Trash) "/" Trash\r\n',
      'UID FETCH': async ({ line, write, ok }) => {
        await write(
          /ENVELOPE|BODYSTRUCTURE|FLAGS/.test(line)
            ? fetchAnswer(1, { structure: STRUCTURE })
            : partAnswer(line, 1, Buffer.from('aGVsbG8=')),
        );
        await ok();
      },
      'UID SEARCH': async ({ line, write, ok }) => {
        await write(/HEADER/i.test(line) ? '* SEARCH\r\n' : '* SEARCH 1\r\n');
        await ok();
      },
    },
    (command) => {
      commands.push(command);
      return fault?.at === command ? fault.reply : undefined;
    },
  );
  const steps = Object.entries(honestSmtp).map(([step, honest]) => {
    const reply: SmtpReply = (io) => {
      const said = smtpFault?.at === step ? smtpFault.reply : honest;
      if (typeof said === 'function') said(io);
      else void io.write(said);
    };
    return [step, reply] as const;
  });
  smtp = await startHostileSmtp(Object.fromEntries(steps));
});
beforeEach(() => {
  fault = undefined;
  smtpFault = undefined;
  commands = [];
});
afterAll(async () => {
  await connector.close?.();
  await closeTestContexts();
  await imap.stop();
  await smtp.stop();
});

let customers = 0;

/** A customer of its own for each call: no connection is left from the one before. */
function context(secret: object = { password: PASSWORD }, signal?: AbortSignal): ToolContext {
  customers += 1;
  const server = ({ port }: HostileServer) => ({ host: '127.0.0.1', port, secure: false, user: 'u' });
  return testContext({
    platform: 'email',
    credential: {
      ...{ imap: { ...server(imap), ...secret }, smtp: { ...server(smtp), ...secret } },
      from: 'someone@mail.test',
    },
    allow: [`127.0.0.1:${imap.port}`, `127.0.0.1:${smtp.port}`],
    customerId: `customer ${customers}`,
    ...(signal === undefined ? {} : { signal }),
  });
}

const call = (name: string, at = context()) =>
  runTool(connector, name, { args: TRIALS[name]?.args ?? {}, context: at });

async function failureOf(work: Promise<unknown>): Promise<ConnectorError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConnectorError)) throw error;
  for (const secret of [PASSWORD, TOKEN]) expect(error.message).not.toContain(secret);
  return error;
}

const no =
  (words: string): ImapReply =>
  ({ tag, write }) =>
    write(`${tag} NO ${words}\r\n`);
const times = (command: string) => commands.filter((one) => one === command).length;

describe('every tool', () => {
  it('has a trial, and its way works', async () => {
    expect(NAMES.toSorted()).toEqual(connector.tools.map(({ name }) => name).toSorted());
    for (const name of NAMES) await call(name);
  });

  it.each(NAMES)('%s: a refused login has one meaning, whichever server refuses', async (name) => {
    const refusals: [words: string, expected: object][] = [
      [`[AUTHENTICATIONFAILED] no ${PASSWORD}`, { code: 'platform_error' }],
      ['[LIMIT] too many logins', { code: 'rate_limited', retryAfterSeconds: 60 }],
      ['[ALERT] Too many simultaneous connections. (Failure)', { code: 'rate_limited' }],
      ['Maximum number of connections from user+IP exceeded', { code: 'rate_limited' }],
      ['[UNAVAILABLE] not now', { code: 'platform_unavailable' }],
    ];
    if (name !== 'email_send_message')
      for (const [words, expected] of refusals) {
        fault = { at: 'LOGIN', reply: no(words) };
        // Nothing was asked for yet, so nothing can have been done.
        expect(await failureOf(call(name))).toMatchObject({
          ...{ ...expected, outcomeOpen: false, nothingDone: true },
        });
      }
    fault = { at: 'LOGIN', reply: ({ socket }) => void socket.destroy() };
    if (name !== 'email_send_message')
      expect(await failureOf(call(name))).toMatchObject({
        ...{ code: 'platform_unavailable', outcomeOpen: false, nothingDone: true },
      });
    if (name !== 'email_send_message') {
      fault = { at: 'AUTHENTICATE', reply: no('[ALERT] Too many simultaneous connections. (Failure)') };
      expect(await failureOf(call(name, context({ access_token: TOKEN })))).toMatchObject({
        code: 'rate_limited',
      });
    }
    fault = { at: 'AUTHENTICATE', reply: no('[AUTHENTICATIONFAILED] expired') };
    smtpFault = { at: 'AUTH', reply: '535 5.7.8 refused\r\n' };
    expect(await failureOf(call(name, context({ access_token: TOKEN })))).toMatchObject({
      code: 'token_expired',
    });
    expect(smtp.taken()).toBe(taken);
  });
});

describe('a server that is not there', () => {
  const nothingDone = { code: 'platform_unavailable', outcomeOpen: false, nothingDone: true };

  it.each(NAMES)('%s: has done nothing', async (name) => {
    const away = { host: '127.0.0.1', port: 1, secure: false, user: 'u', password: PASSWORD };
    const unknown = { ...away, host: 'mail.invalid' };
    const { credential, ...rest } = context() as ToolContext<Record<string, unknown>>;
    const guard = testContext({ platform: 'email', credential: {}, allow: ['127.0.0.1:1'] }).guard;
    for (const server of [away, unknown])
      expect(
        await failureOf(
          call(name, { ...rest, guard, credential: { ...credential, imap: server, smtp: server } }),
        ),
      ).toMatchObject(nothingDone);
  });

  it('email_reply_message: a connection that ends while the original is read has sent nothing', async () => {
    fault = { at: 'UID FETCH', reply: ({ socket }) => void socket.destroy() };
    expect(await failureOf(call('email_reply_message'))).toMatchObject(nothingDone);
    expect(smtp.taken()).toBe(taken);
  });
});

describe('IMAP', () => {
  it.each(IMAP_TOOLS)('%s: a command that is refused, cut or not to be read', async (name) => {
    const { at } = TRIALS[name] as (typeof TRIALS)[string];
    fault = { at, reply: no('[CANNOT] not here') };
    const refused = await failureOf(call(name));
    expect(refused.code).toBe('platform_error');
    expect(['CANNOT', 'NO']).toContain(refused.platformCode);
    fault = { at, reply: no('[UNAVAILABLE] not now') };
    const passing = await failureOf(call(name));
    // Where the library keeps the code to itself, it is a refusal like any other.
    expect([passing.code, passing.nothingDone]).toBeOneOf([
      ['platform_unavailable', true],
      ['platform_error', false],
    ]);
    for (const cut of ['', '* LIST () "/" {1000}\r\nabc', `* 1 FETCH (UID 1 BODY[1] {1000}\r\nabc`]) {
      commands = [];
      fault = { at, reply: ({ socket, write }) => write(cut).then(() => void socket.destroy()) };
      expect(await failureOf(call(name))).toMatchObject({
        ...{ code: 'platform_unavailable', outcomeOpen: true, nothingDone: false },
      });
      // Nobody knows whether it was done: it is not asked for a second time.
      expect(times(at)).toBe(1);
    }
    fault = { at, reply: ({ write }) => write(`${'('.repeat(2_000)}\0\x7f\r\n* ${'['.repeat(70_000)}\r\n`) };
    expect(['platform_error', 'platform_unavailable']).toContain((await failureOf(call(name))).code);
  });

  it.each([
    ['email_move_messages', 'UID MOVE'],
    ['email_delete_messages', 'UID MOVE'],
  ])(
    '%s: what a rested connection was lost under is not asked for again, nor called missing',
    async (name, at) => {
      const rested = context();
      await call('email_list_folders', rested);
      commands = [];
      fault = { at, reply: ({ socket }) => void socket.destroy() };
      expect(await failureOf(call(name, rested))).toMatchObject({
        ...{ code: 'platform_unavailable', outcomeOpen: true, nothingDone: false },
      });
      expect(times(at)).toBe(1);
      // Before anything is changed the work begins anew, on another connection.
      fault = undefined;
      await call('email_list_folders', rested);
      let cuts = 0;
      commands = [];
      fault = {
        at: 'UID SEARCH',
        reply: async ({ socket, write, ok }) => {
          cuts += 1;
          if (cuts === 1) return void socket.destroy();
          await write('* SEARCH 1\r\n');
          return ok();
        },
      };
      await call(name, rested);
      expect([times('UID SEARCH'), times(at)]).toEqual([2, 1]);
    },
  );

  it('a server that asks to slow down is told apart from one that refuses', async () => {
    const words = 'Request is throttled. Suggested Backoff Time: 1200 milliseconds';
    fault = { at: 'LIST', reply: ({ tag, write }) => write(`${tag} BAD ${words}\r\n`) };
    expect(await failureOf(call('email_list_folders'))).toMatchObject({
      ...{ code: 'rate_limited', retryAfterSeconds: 2, outcomeOpen: false },
    });
  });

  it.each([
    ['a password', undefined],
    ['a token', { access_token: TOKEN }],
  ])('says what to do where Exchange takes %s and opens no mailbox for it', async (_, login) => {
    const bad: ImapReply = ({ tag, write }) =>
      write(`${tag} BAD User is authenticated but not connected.\r\n* BYE Connection closed. 14\r\n`);
    for (const at of ['NAMESPACE', 'LIST']) {
      fault = { at, reply: bad };
      const failure = await failureOf(call('email_list_folders', context(login)));
      expect(failure, at).toMatchObject({ code: 'platform_error', platformCode: 'NOT_CONNECTED' });
      expect(failure.message).toContain('have IMAP switched on for this mailbox');
    }
    fault = { at: 'NAMESPACE', reply: bad };
    expect(await connector.verify(context(login))).toMatchObject({
      ...{ kind: 'rejected', reason: expect.stringContaining('IMAP switched on') },
    });
  });

  it.each([
    ['[ALERT] Application-specific password required: https://g.test (Failure)', 'APP_PASSWORD_REQUIRED'],
    ['[ALERT] Your account is not enabled for IMAP use. Please visit your settings', 'IMAP_DISABLED'],
    ['[ALERT] Please log in via your web browser: https://g.test (Failure)', 'WEB_LOGIN_REQUIRED'],
    ['[ALERT] IMAP access is disabled for your domain. (Failure)', 'IMAP_DISABLED'],
  ])('says what to do where no other password would help: %s', async (words, platformCode) => {
    fault = { at: 'LOGIN', reply: no(words) };
    expect(await failureOf(call('email_list_folders'))).toMatchObject({
      code: 'platform_error',
      platformCode,
    });
    fault = { at: 'AUTHENTICATE', reply: no(words) };
    const byToken = failureOf(call('email_list_folders', context({ access_token: TOKEN })));
    expect(await byToken).toMatchObject({ code: 'platform_error', platformCode });
  });

  // One tool for each kind of command: the guard before the parser knows no tools.
  it.each(['email_list_folders', 'email_get_message', 'email_move_messages'])(
    '%s: 50 MB are not kept',
    async (name) => {
      const { at } = TRIALS[name] as (typeof TRIALS)[string];
      const before = process.memoryUsage().rss;
      const line = `* OK ${'x'.repeat(60_000)}\r\n`;
      fault = { at, reply: ({ socket }) => flood(socket, () => line, HUGE_BYTES) };
      expect(['platform_error', 'platform_unavailable']).toContain((await failureOf(call(name))).code);
      expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_BYTES_MAX);
    },
  );

  it.each(IMAP_TOOLS)('%s: whoever cancels waits no longer, nor does a call without an end', async (name) => {
    const { at } = TRIALS[name] as (typeof TRIALS)[string];
    fault = { at, reply: () => {} };
    commands = [];
    const abort = new AbortController();
    const asked = call(name, context(undefined, abort.signal));
    asked.catch(() => {});
    await expect.poll(() => times(at), { interval: 5 }).toBe(1);
    abort.abort(new Error('cancelled by the caller'));
    await expect(asked).rejects.toThrow('cancelled by the caller');
    await expect(call(name, context(undefined, AbortSignal.timeout(100)))).rejects.toThrow(/timeout/);
  });
});

/** Mails that were taken before the test. */
let taken = 0;
beforeEach(() => {
  taken = smtp.taken();
});

describe('SMTP', () => {
  it.each(SMTP_TOOLS)('%s: what the server refuses or puts off, at each step', async (name) => {
    const answers: [step: string, reply: string, expected: object][] = [
      ['AUTH', `535 5.7.8 ${PASSWORD}\r\n`, { code: 'platform_error', platformCode: '535' }],
      ['greeting', '421 4.3.2 full\r\n', { code: 'platform_unavailable', nothingDone: true }],
      ['AUTH', '454 4.7.0 later\r\n', { code: 'platform_unavailable', nothingDone: true }],
      ['MAIL', '550 5.1.0 not you\r\n', { code: 'platform_error', platformCode: '550' }],
      ['RCPT', '550 5.1.1 nobody\r\n', { code: 'platform_error', platformCode: '550' }],
      ['MAIL', '451 4.3.0 later\r\n', { code: 'platform_unavailable', nothingDone: true }],
      ['RCPT', '451 4.2.1 later\r\n', { code: 'platform_unavailable', nothingDone: true }],
      ['message', '554 5.6.0 no\r\n', { code: 'platform_error', platformCode: '554' }],
      ['message', '421 4.3.2 closing\r\n', { code: 'platform_unavailable', nothingDone: true }],
    ];
    for (const [at, reply, expected] of answers) {
      smtpFault = { at, reply };
      expect(await failureOf(call(name)), `${at} ${reply}`).toMatchObject(expected);
    }
  });

  it('a token is over where the server refuses it, and not where the server puts it off or hangs up', async () => {
    const answers: [reply: SmtpReply, code: string][] = [
      ['535 5.7.8 no\r\n', 'token_expired'],
      ['454 4.7.0 later\r\n', 'platform_unavailable'],
      ['421 4.3.2 closing\r\n', 'platform_unavailable'],
      [({ socket }) => void socket.destroy(), 'platform_unavailable'],
    ];
    for (const [reply, code] of answers) {
      smtpFault = { at: 'AUTH', reply };
      const sent = call('email_send_message', context({ access_token: TOKEN }));
      expect(await failureOf(sent), String(reply)).toMatchObject({ code, outcomeOpen: false });
    }
  });

  it.each([
    [
      '535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant.',
      'SMTP_DISABLED',
    ],
    [
      "535 5.7.139 Authentication unsuccessful, user is locked by your organization's security defaults policy.",
      'LOCKED_BY_POLICY',
    ],
    ['535 5.7.139 Authentication unsuccessful, basic authentication is disabled.', 'PASSWORD_DISABLED'],
    [
      '534-5.7.9 Application-specific password required. For more information, go to\r\n534 5.7.9 x',
      'APP_PASSWORD_REQUIRED',
    ],
  ])(
    'says what to do where neither another password nor a renewed token would help: %s',
    async (reply, platformCode) => {
      for (const login of [undefined, { access_token: TOKEN }]) {
        smtpFault = { at: 'AUTH', reply: `${reply}\r\n` };
        expect(await failureOf(call('email_send_message', context(login)))).toMatchObject({
          ...{ code: 'platform_error', platformCode, outcomeOpen: false },
        });
      }
    },
  );

  it('gets addresses with letters beyond ASCII only where it says that it takes them', async () => {
    const args = { to: ['ada@else.test', 'jürgen@else.test'], subject: 's', text: 't' };
    const send = (to = args.to) =>
      runTool(connector, 'email_send_message', { args: { ...args, to }, context: context() });
    const recipients: string[] = [];
    smtpFault = {
      at: 'RCPT',
      reply: ({ line, write }) => {
        recipients.push(Buffer.from(line, 'latin1').toString());
        return void write('250 ok\r\n');
      },
    };
    expect(await failureOf(send())).toMatchObject({
      ...{ code: 'platform_error', platformCode: 'SMTPUTF8', nothingDone: true },
    });
    expect([recipients, smtp.taken()]).toEqual([[], taken]);
    // A name of a domain has a form in ASCII.
    await send(['Jürgen <ada@münchen.test>']);
    expect(recipients).toEqual(['RCPT TO:<ada@xn--mnchen-3ya.test>']);
    smtpFault = { at: 'EHLO', reply: '250-hello\r\n250-AUTH PLAIN LOGIN\r\n250 SMTPUTF8\r\n' };
    expect(await send()).toMatchObject({ accepted: args.to });
  });

  it.each(SMTP_TOOLS)('%s: a mail whose fate is open is never sent twice', async (name) => {
    const connections = smtp.accepted();
    smtpFault = { at: 'message', reply: ({ socket }) => void socket.destroy() };
    const lost = await failureOf(call(name));
    expect(lost).toMatchObject({ code: 'platform_unavailable', outcomeOpen: true, nothingDone: false });
    expect([smtp.taken() - taken, smtp.accepted() - connections]).toEqual([1, 1]);
    // Before the mail itself nothing can have been taken.
    for (const at of ['MAIL', 'RCPT']) {
      smtpFault = { at, reply: ({ socket }) => void socket.destroy() };
      expect(await failureOf(call(name)), at).toMatchObject({
        ...{ code: 'platform_unavailable', outcomeOpen: false, nothingDone: true },
      });
    }
    smtpFault = { at: 'message', reply: 'yes\r\n' };
    expect(['platform_error', 'platform_unavailable']).toContain((await failureOf(call(name))).code);
    smtpFault = {
      at: 'RCPT',
      reply: ({ socket }) => void flood(socket, () => `250-${'x'.repeat(500)}\r\n`, HUGE_BYTES),
    };
    expect(await failureOf(call(name))).toMatchObject({ code: 'platform_error' });
    smtpFault = { at: 'message', reply: () => {} };
    const abort = new AbortController();
    const before = smtp.taken();
    const sent = call(name, context(undefined, abort.signal));
    sent.catch(() => {});
    await expect.poll(() => smtp.taken(), { interval: 5 }).toBe(before + 1);
    abort.abort(new Error('cancelled by the caller'));
    await expect(sent).rejects.toThrow('cancelled by the caller');
    await expect.poll(() => smtp.connections(), { interval: 5 }).toBe(0);
  });
});

const LINE_BREAKS = ['a\r\nA2 DELETE INBOX', 'a\nb', 'a\0b', '\u007f', ''];
const NO_NUMBERS = ['1:*', '*', '1,2', '1 (FLAGS)', '-1', '1\r\n', '１', '٣', '../1'];
const HOSTILE: Record<string, readonly unknown[]> = {
  folder: LINE_BREAKS,
  target_folder: LINE_BREAKS,
  parent_folder: LINE_BREAKS,
  name: LINE_BREAKS,
  uid: [...NO_NUMBERS, 0, -1, 1.5, 2 ** 32],
  uids: [...NO_NUMBERS, 0, -1, 1.5, 2 ** 32].map((value) => [value]),
  part_id: ['1]', '1.TEXT', 'HEADER', '0', '1..2', '1 2', '1\r\n', '', '１'],
};

it('takes no folder, number or part that says more than that; nothing is sent for it', async () => {
  let tried = 0;
  const before = imap.accepted() + smtp.accepted();
  for (const { name, inputSchema } of connector.tools)
    for (const field of Object.keys(inputSchema.properties))
      for (const value of HOSTILE[field] ?? []) {
        const args = { ...TRIALS[name]?.args, [field]: value };
        const refused = runTool(connector, name, { args, context: context() });
        await expect(refused, `${name} ${field}=${JSON.stringify(value)}`).rejects.toMatchObject({
          code: 'invalid_arguments',
        });
        tried += 1;
      }
  expect(tried).toBeGreaterThan(100);
  expect(imap.accepted() + smtp.accepted()).toBe(before);
});
