import type { AddressInfo, Socket } from 'node:net';
import hoodiecrow, { type HoodiecrowPlugin } from 'hoodiecrow-imap';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  to: string[];
  raw: string;
}

/** A mail server in this process: what arrives by SMTP lies in the one mailbox that IMAP serves. */
export interface InProcessMailServer {
  imapPort: number;
  smtpPort: number;
  received: ReceivedMail[];
  imap: ReturnType<typeof hoodiecrow>;
  /** Connections that IMAP has open now. */
  imapConnections(): number;
  /** Connections that IMAP has ever taken. */
  imapAccepted(): number;
  dropImapConnections(): void;
  /** Messages that were taken in whole and not answered. */
  unanswered(): number;
  /** Refuses the next message at this step of SMTP. */
  failNext(failure: { step: 'rcpt' | 'data'; code: number } | { step: 'hang' } | { step: 'drop' }): void;
  stop(): Promise<void>;
}

export interface InProcessOptions {
  users: Record<string, string>;
  /** user → access token that is good now. */
  tokens?: Record<string, string>;
  plugins?: (string | HoodiecrowPlugin)[];
  /** Whether the mailbox has a folder that the server names for sent mail. */
  hasSent?: boolean;
  tls?: { key: string; cert: string };
}

const PLUGINS = [
  'ID',
  'SASL-IR',
  'AUTH-PLAIN',
  'NAMESPACE',
  'IDLE',
  'ENABLE',
  'LITERALPLUS',
  'UNSELECT',
  'SPECIAL-USE',
];

function storage(hasSent: boolean) {
  return {
    INBOX: {},
    '': {
      separator: '/',
      // The second is `Entwürfe & Co` in IMAP's own encoding.
      folders: {
        Archive: { 'special-use': '\\Archive' },
        Drafts: { 'special-use': '\\Drafts' },
        Trash: { 'special-use': '\\Trash' },
        'Entw&APw-rfe &- Co': {},
        ...(hasSent ? { Gesendet: { 'special-use': '\\Sent' } } : { Sent: {} }),
      },
    },
  };
}

/** XOAUTH2 with tokens that tests change; the server's own plugin waits forever for an empty line after a refusal. */
function tokenLogin(tokens: Record<string, string>): HoodiecrowPlugin {
  return (server) => {
    server.registerCapability('AUTH=XOAUTH2', (connection) => connection.state === 'Not Authenticated');
    server.setCommandHandler('AUTHENTICATE XOAUTH2', (connection, parsed, data, done) => {
      const initial = Buffer.from(parsed.attributes[0]?.value ?? '', 'base64').toString();
      const [user = '', token = ''] = initial.split('\x01');
      const good = tokens[user.replace('user=', '')];
      const isGood = good !== undefined && token === `auth=Bearer ${good}`;
      if (isGood) connection.state = 'Authenticated';
      const value = isGood ? 'logged in' : 'invalid token';
      const attributes = [{ type: 'TEXT', value }];
      connection.send(
        { tag: parsed.tag, command: isGood ? 'OK' : 'NO', attributes },
        'XOAUTH2',
        parsed,
        data,
      );
      done();
    });
  };
}

export async function startInProcessMail(options: InProcessOptions): Promise<InProcessMailServer> {
  const imap = hoodiecrow({
    plugins: [...PLUGINS, ...(options.plugins ?? ['MOVE', 'UIDPLUS']), tokenLogin(options.tokens ?? {})],
    users: Object.fromEntries(Object.entries(options.users).map(([user, password]) => [user, { password }])),
    storage: storage(options.hasSent ?? false),
    ...(options.tls ? { secureConnection: true, credentials: options.tls } : {}),
  });
  const sockets = new Set<Socket>();
  let accepted = 0;
  imap.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    accepted += 1;
    // The server writes lines one by one, which would cost 40 ms each.
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => imap.listen(0, '127.0.0.1', resolve));

  const received: ReceivedMail[] = [];
  let unanswered = 0;
  let failure: Parameters<InProcessMailServer['failNext']>[0] | undefined;
  const smtp = new SMTPServer({
    authOptional: false,
    authMethods: ['PLAIN', 'LOGIN', 'XOAUTH2'],
    ...(options.tls
      ? { secure: true, ...options.tls }
      : { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }),
    logger: false,
    onAuth(auth, _session, done) {
      const isGood =
        auth.method === 'XOAUTH2'
          ? options.tokens?.[auth.username ?? ''] === auth.accessToken
          : options.users[auth.username ?? ''] === auth.password;
      if (isGood) done(null, { user: auth.username });
      else if (auth.method === 'XOAUTH2') done(null, { data: { status: '401', schemes: 'bearer' } });
      else done(new Error('wrong password'));
    },
    onRcptTo(address, _session, done) {
      if (failure?.step === 'rcpt' || address.address.startsWith('nobody@')) {
        const code = failure?.step === 'rcpt' ? failure.code : 550;
        done(Object.assign(new Error('no such user'), { responseCode: code }));
      } else done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const current = failure;
        failure = undefined;
        if (current?.step === 'data')
          return done(Object.assign(new Error('refused'), { responseCode: current.code }));
        if (current?.step === 'hang') {
          unanswered += 1;
          return undefined;
        }
        if (current?.step === 'drop') return void dropSmtp();
        const raw = Buffer.concat(chunks).toString('latin1');
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw,
        });
        imap.appendMessage('INBOX', [], false, raw);
        return done();
      });
    },
  });
  const smtpSockets = new Set<Socket>();
  const dropSmtp = () => {
    for (const socket of smtpSockets) socket.destroy();
  };
  smtp.server.on('connection', (socket: Socket) => {
    smtpSockets.add(socket);
    socket.once('close', () => smtpSockets.delete(socket));
  });
  smtp.on('error', () => {});
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));

  return {
    imapPort: (imap.server.address() as AddressInfo).port,
    smtpPort: (smtp.server.address() as AddressInfo).port,
    received,
    imap,
    imapConnections: () => sockets.size,
    imapAccepted: () => accepted,
    dropImapConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    unanswered: () => unanswered,
    failNext: (next) => {
      failure = next;
    },
    async stop() {
      for (const socket of [...sockets, ...smtpSockets]) socket.destroy();
      await new Promise<void>((resolve) => imap.close(resolve));
      await new Promise<void>((resolve) => smtp.close(resolve));
    },
  };
}
