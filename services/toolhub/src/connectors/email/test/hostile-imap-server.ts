import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** One answer of the server: what it writes, or a function that does as it pleases with the connection. */
export type ImapReply = string | Buffer | ((io: ImapIo) => void | Promise<void>);

export interface ImapIo {
  tag: string;
  /** The whole line that the client sent. */
  line: string;
  socket: Socket;
  write(data: string | Buffer): Promise<void>;
  /** `<tag> OK` */
  ok(): Promise<void>;
}

/** By command (`LIST`, `UID FETCH`, …), and `greeting`. What is not named is answered as an honest server would. */
export type ImapScript = Readonly<Record<string, ImapReply>>;

export type FaultFor = (command: string) => ImapReply | undefined;

export interface HostileServer {
  port: number;
  connections(): number;
  accepted(): number;
  stop(): Promise<void>;
}

const LITERAL = /\{\d+\+?\}$/;

function envelope(uid: number): string {
  const person = `(("Eve" NIL "eve" "evil.test"))`;
  return `("Mon, 02 Nov 2026 10:00:0${uid % 10} +0000" "message ${uid}" ${person} ${person} ${person} ${person} NIL NIL NIL "<${uid}@evil.test>")`;
}

export const PLAIN_STRUCTURE = '("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "7BIT" 5 1)';
export const HTML_STRUCTURE = '("TEXT" "HTML" ("CHARSET" "utf-8") NIL NIL "8BIT" 262144 1)';

export function fetchAnswer(uid: number, overrides: { envelope?: string; structure?: string } = {}): string {
  return `* ${uid} FETCH (UID ${uid} FLAGS () INTERNALDATE "02-Nov-2026 10:00:00 +0000" RFC822.SIZE 100 ENVELOPE ${overrides.envelope ?? envelope(uid)} BODYSTRUCTURE ${overrides.structure ?? PLAIN_STRUCTURE})\r\n`;
}

/** Answers a fetch of parts with this text for each of them, cut as the client asked. */
export function partAnswer(line: string, uid: number, body: Buffer): Buffer {
  const asked = /BODY\.PEEK\[([^\]]*)\](?:<(\d+)\.(\d+)>)?/.exec(line);
  const [, section = 'TEXT', start = '0', length = String(body.length)] = asked ?? [];
  const piece = body.subarray(Number(start), Number(start) + Number(length));
  const head = `* ${uid} FETCH (UID ${uid} BODY[${section}]<${start}> {${piece.length}}\r\n`;
  return Buffer.concat([Buffer.from(head), piece, Buffer.from(')\r\n')]);
}

const UIDS = [1, 2, 3];

/** Three messages in INBOX, and what imapflow asks of a server. */
const HONEST: Record<string, ImapReply> = {
  greeting: '* OK [CAPABILITY IMAP4rev1 NAMESPACE UIDPLUS MOVE SPECIAL-USE] ready\r\n',
  CAPABILITY: '* CAPABILITY IMAP4rev1 NAMESPACE UIDPLUS MOVE SPECIAL-USE\r\n',
  NAMESPACE: '* NAMESPACE (("" "/")) NIL NIL\r\n',
  LIST: '* LIST (\\HasNoChildren) "/" INBOX\r\n* LIST (\\HasNoChildren \\Trash) "/" Trash\r\n',
  LSUB: '',
  STATUS: '* STATUS INBOX (MESSAGES 3 UNSEEN 1)\r\n',
  SELECT: '* FLAGS (\\Seen \\Deleted)\r\n* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 4] ok\r\n',
  EXAMINE: '* FLAGS (\\Seen \\Deleted)\r\n* 3 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 4] ok\r\n',
  'UID SEARCH': `* SEARCH ${UIDS.join(' ')}\r\n`,
  'UID FETCH': async ({ line, write, ok }) => {
    const asked = /UID FETCH (\S+)/i.exec(line)?.[1] ?? '';
    const wanted = UIDS.filter((uid) => asked.split(',').some((part) => isWithin(uid, part)));
    for (const uid of wanted) {
      await write(/BODY\.PEEK/.test(line) ? partAnswer(line, uid, Buffer.from('hello')) : fetchAnswer(uid));
    }
    await ok();
  },
};

function isWithin(uid: number, part: string): boolean {
  const [low = 0, high = low] = part.split(':').map(Number);
  return uid >= low && uid <= high;
}

/**
 * A server that follows the protocol up to the point where its script tells it otherwise. `faultFor` is asked at every
 * command, for faults that come and go.
 */
export async function startHostileImap(
  script: ImapScript = {},
  faultFor: FaultFor = () => undefined,
): Promise<HostileServer> {
  const replies = { ...HONEST, ...script };
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    serve(socket, replies, faultFor);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    accepted: () => accepted,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(
  socket: Socket,
  replies: Record<string, ImapReply>,
  faultFor: FaultFor = () => undefined,
): void {
  const write = (data: string | Buffer) => writeAll(socket, data);
  const answer = async (reply: ImapReply, tag: string, line: string) => {
    try {
      await say(reply, tag, line);
    } catch {
      // The client hung up in the middle of it, as it should.
    }
  };
  const say = async (reply: ImapReply, tag: string, line: string) => {
    const ok = () => write(`${tag} OK done\r\n`);
    if (typeof reply === 'function') return reply({ tag, line, socket, write, ok });
    await write(reply);
    if (tag !== '') await ok();
  };
  void answer(replies.greeting as ImapReply, '', '');
  let rest = '';
  let command = '';
  socket.on('data', (chunk) => {
    rest += chunk.toString('latin1');
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      command += rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (LITERAL.test(command)) {
        void write('+ go on\r\n');
        continue;
      }
      const [, tag = '', name = ''] = /^(\S+) ((?:UID )?\S+)/.exec(command) ?? [];
      void answer(faultFor(name.toUpperCase()) ?? replies[name.toUpperCase()] ?? '', tag, command);
      command = '';
    }
  });
}

/** Goes over to TLS as asked, and on with the same script from there. */
export function upgradeWith(
  identity: { key: string; cert: string },
  script: ImapScript,
  /** Sent unencrypted behind the consent. */
  injected = '',
): ImapReply {
  return async ({ tag, socket, write }) => {
    socket.removeAllListeners('data');
    await write(`${tag} OK begin\r\n${injected}`);
    const secure = new TLSSocket(socket, { isServer: true, ...identity });
    secure.on('error', () => {});
    serve(secure, { ...HONEST, ...script, greeting: '' });
  };
}

/** Waits until the client has taken it: what endless answers fill is its memory, not ours. */
export function writeAll(socket: Socket, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return reject(new Error('gone'));
    return socket.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes the same again and again until the client hangs up or so many bytes have left. */
export async function flood(
  socket: Socket,
  piece: (turn: number) => string,
  bytesMax: number,
): Promise<void> {
  try {
    for (let sent = 0, turn = 0; sent < bytesMax; ) {
      let block = '';
      while (block.length < 64 * 1024) block += piece(turn++);
      await writeAll(socket, block);
      sent += block.length;
    }
  } catch {
    // The client hung up, which is what an endless answer waits for.
  }
}
