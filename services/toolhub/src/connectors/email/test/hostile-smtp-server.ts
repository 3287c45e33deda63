import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type HostileServer, writeAll } from './hostile-imap-server.ts';

export type SmtpReply =
  | string
  | ((io: { socket: Socket; line: string; write(data: string): Promise<void> }) => void);

/** By verb (`EHLO`, `AUTH`, …), `greeting`, and `message` for the answer to the end of the data. */
export type SmtpScript = Readonly<Record<string, SmtpReply>>;

const HONEST: Record<string, SmtpReply> = {
  greeting: '220 ready\r\n',
  EHLO: '250-hello\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME\r\n',
  AUTH: '235 welcome\r\n',
  DATA: '354 go on\r\n',
  message: '250 taken\r\n',
  QUIT: '221 bye\r\n',
};

/** A server that follows the protocol up to the point where its script tells it otherwise. */
export async function startHostileSmtp(
  script: SmtpScript = {},
): Promise<HostileServer & { taken(): number }> {
  const replies = { ...HONEST, ...script };
  const sockets = new Set<Socket>();
  let accepted = 0;
  let taken = 0;
  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    const write = (data: string) => writeAll(socket, data).catch(() => {});
    const answer = (reply: SmtpReply, line: string) =>
      typeof reply === 'function' ? reply({ socket, line, write }) : void write(reply);
    answer(replies.greeting as SmtpReply, '');
    let rest = '';
    let isData = false;
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (isData) {
          if (line !== '.') continue;
          isData = false;
          taken += 1;
          answer(replies.message as SmtpReply, line);
          continue;
        }
        const verb = line.split(' ', 1)[0]?.toUpperCase() ?? '';
        isData = verb === 'DATA' && replies.DATA === HONEST.DATA;
        answer(replies[verb] ?? '250 ok\r\n', line);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    accepted: () => accepted,
    taken: () => taken,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
