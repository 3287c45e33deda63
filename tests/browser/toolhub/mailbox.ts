// A mailbox to connect: Dovecot where it is installed, else a mail server in this process.
import { startInProcessMail } from '../../../services/toolhub/src/connectors/email/test/in-process-mail-server.ts';
import {
  missingForRealMail,
  startRealMail,
} from '../../../services/toolhub/src/connectors/email/test/real-mail-server.ts';

export interface Mailbox {
  kind: 'Dovecot' | 'in this process';
  address: string;
  password: string;
  imapPort: number;
  smtpPort: number;
  /** `host:port`, as the settings name them. */
  places: readonly string[];
  stop(): Promise<void>;
}

const ADDRESS = 'ada@mail.test';
const PASSWORD = 'app password of ada';

export async function startMailbox(): Promise<Mailbox> {
  const users = { [ADDRESS]: PASSWORD };
  const mailbox = missingForRealMail() === null ? await startDovecot(users) : await startOwn(users);
  const places = [mailbox.imapPort, mailbox.smtpPort].map((port) => `127.0.0.1:${port}`);
  return { ...mailbox, address: ADDRESS, password: PASSWORD, places };
}

async function startDovecot(users: Record<string, string>) {
  // Nobody logs in with a token here, so nobody is asked about one.
  const server = await startRealMail({ users, tokenInfoUrl: 'http://127.0.0.1:1/?token=', delivery: false });
  return {
    kind: 'Dovecot' as const,
    imapPort: server.imapPort,
    smtpPort: server.submissionPort,
    stop: server.stop,
  };
}

async function startOwn(users: Record<string, string>) {
  const server = await startInProcessMail({ users, hasSent: true });
  return {
    kind: 'in this process' as const,
    imapPort: server.imapPort,
    smtpPort: server.smtpPort,
    stop: server.stop,
  };
}
