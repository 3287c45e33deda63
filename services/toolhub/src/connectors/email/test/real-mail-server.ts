import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// A real mail system on loopback: Dovecot takes mail (submission), hands it to OpenSMTPD, which delivers it back to
// Dovecot (LMTP), which serves it (IMAP).

const DOVECOT_PATH = '/usr/sbin/dovecot';
const OPENSMTPD_PATH = '/usr/sbin/smtpd';
/** OpenSMTPD has this one place for its socket and one for its spool. */
const OPENSMTPD_SOCKET = '/var/run/smtpd.sock';
const SUBMISSION_PATH = '/usr/lib/dovecot/submission';
const LMTP_PATH = '/usr/lib/dovecot/lmtp';

const START_MS_MAX = 60_000;
const POLL_MS = 25;
const STOP_MS_MAX = 5_000;

/** Dovecot's processes have users of their own, who read nothing that was written with the rights which a strict umask leaves. */
async function writeReadable(path: string, content: string): Promise<void> {
  await writeFile(path, content);
  await chmod(path, 0o644);
}

/** Null, or what keeps the real servers, or Dovecot alone, from being started here. */
export function missingForRealMail({ delivery = true }: { delivery?: boolean } = {}): string | null {
  const needed = [DOVECOT_PATH, SUBMISSION_PATH, LMTP_PATH, ...(delivery ? [OPENSMTPD_PATH] : [])];
  const absent = needed.filter((path) => !existsSync(path));
  if (absent.length > 0) return `${absent.join(', ')} not installed`;
  // Both servers drop their rights by themselves, which only root can.
  if (process.getuid?.() !== 0) return 'they can be started by root only';
  return delivery && existsSync(OPENSMTPD_SOCKET) ? 'another OpenSMTPD runs on this machine' : null;
}

export interface RealMailServer {
  imapPort: number;
  submissionPort: number;
  domain: string;
  log(): Promise<string>;
  stop(): Promise<void>;
}

export interface RealMailOptions {
  users: Record<string, string>;
  /** Where Dovecot asks whether an access token is good (RFC 7662 introspection by GET). */
  tokenInfoUrl: string;
  /** Without, only Dovecot runs: OpenSMTPD has one fixed spool, so one test file at a time can have it. */
  delivery?: boolean;
  /** The account's folders below `INBOX.`, as at many hosters, with a trash in the folders that all share. */
  isPrefixed?: boolean;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.once('listening', () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

const PLAIN_NAMESPACES = `
namespace inbox {
  inbox = yes
  separator = /
  mailbox Archive {
    auto = create
    special_use = \\Archive
  }
  mailbox Sent {
    auto = create
    special_use = \\Sent
  }
  mailbox Drafts {
    auto = create
    special_use = \\Drafts
  }
  mailbox Trash {
    auto = create
    special_use = \\Trash
  }
}
`;

function prefixedNamespaces(folder: string): string {
  return `
namespace inbox {
  inbox = yes
  prefix = INBOX.
  separator = .
  mailbox Sent {
    auto = create
    special_use = \\Sent
  }
}
namespace public {
  type = public
  prefix = Public.
  separator = .
  location = maildir:${folder}/public
  list = children
  subscriptions = no
  mailbox Bin {
    auto = create
    special_use = \\Trash
  }
  mailbox Drafts {
    auto = create
  }
}
namespace kept_out {
  type = public
  prefix = Kept.
  separator = .
  location = maildir:${folder}/kept
  list = no
  subscriptions = no
  mailbox Bin {
    auto = create
    special_use = \\Trash
  }
  mailbox 2025 {
    auto = create
  }
}
`;
}

function dovecotConfig(
  folder: string,
  {
    ports,
    namespaces,
  }: { ports: Record<'imap' | 'lmtp' | 'submission' | 'smtp', number>; namespaces: string },
): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
instance_name = toolhub-test
protocols = imap lmtp submission
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login xoauth2 oauthbearer
auth_failure_delay = 0
auth_cache_size = 0
login_trusted_networks = 127.0.0.0/8
mail_location = maildir:~/mail
first_valid_uid = 1
mail_max_userip_connections = 100
passdb {
  driver = passwd-file
  mechanisms = plain login
  args = scheme=PLAIN username_format=%u ${folder}/users
}
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = ${folder}/oauth2.conf
}
userdb {
  driver = static
  args = uid=dovenull gid=dovenull home=${folder}/mail/%u allow_all_users=yes
}
${namespaces}submission_relay_host = 127.0.0.1
submission_relay_port = ${ports.smtp}
submission_max_mail_size = 40M
service imap-login {
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = 0
  }
}
service submission-login {
  inet_listener submission {
    port = ${ports.submission}
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${ports.lmtp}
  }
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
`;
}

/** Delivery as a local action hands over one recipient at a time; as a relay, 6.8 stumbles over two (for LMTP answers twice). */
function smtpdConfig(ports: Record<'lmtp' | 'smtp', number>): string {
  return `
listen on 127.0.0.1 port ${ports.smtp} hostname mail.test
smtp max-message-size "40M"
table everyone { "@" = "dovenull" }
action "deliver" lmtp "127.0.0.1:${ports.lmtp}" rcpt-to virtual <everyone>
match from any for any action "deliver"
`;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function waitForPort(port: number, child: ChildProcess, name: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < START_MS_MAX; waitedMs += POLL_MS) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    if (await answers(port)) return;
    await sleep(POLL_MS);
  }
  throw new Error(`${name} did not listen on ${port} in time`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

export async function startRealMail({
  users,
  tokenInfoUrl,
  delivery = true,
  isPrefixed = false,
}: RealMailOptions): Promise<RealMailServer> {
  const folder = await mkdtemp(join(tmpdir(), 'real-mail-'));
  await chmod(folder, 0o755);
  const modes = { run: 0o755, state: 0o755, mail: 0o777, public: 0o777, kept: 0o777 };
  for (const [name, mode] of Object.entries(modes)) {
    await mkdir(join(folder, name));
    await chmod(join(folder, name), mode);
  }
  const [imap, lmtp, submission, smtp] = (await freePorts(4)) as [number, number, number, number];
  const ports = { imap, lmtp, submission, smtp };
  // The trailing colons are part of the format.
  const lines = Object.entries(users).map(([user, password]) => `${user}:{PLAIN}${password}::::::\n`);
  await writeReadable(join(folder, 'users'), lines.join(''));
  await writeReadable(
    join(folder, 'oauth2.conf'),
    `introspection_url = ${tokenInfoUrl}\nintrospection_mode = get\nusername_attribute = username\nactive_attribute = active\nactive_value = true\n`,
  );
  const namespaces = isPrefixed ? prefixedNamespaces(folder) : PLAIN_NAMESPACES;
  await writeFile(join(folder, 'dovecot.conf'), dovecotConfig(folder, { ports, namespaces }));
  await writeFile(join(folder, 'smtpd.conf'), smtpdConfig(ports), { mode: 0o600 });
  const output: string[] = [];
  const dovecot = spawn(DOVECOT_PATH, ['-F', '-c', join(folder, 'dovecot.conf')]);
  const smtpd = delivery ? spawn(OPENSMTPD_PATH, ['-d', '-f', join(folder, 'smtpd.conf')]) : undefined;
  const children = smtpd === undefined ? [dovecot] : [dovecot, smtpd];
  for (const child of children) {
    child.stdout.on('data', (chunk) => output.push(String(chunk)));
    child.stderr.on('data', (chunk) => output.push(String(chunk)));
  }
  const log = async () => {
    const written = await readFile(join(folder, 'dovecot.log'), 'utf8').catch(() => '');
    return `${written}\n${output.join('')}`;
  };
  const stop = async () => {
    await Promise.all(children.map(end));
    // Children of Dovecot may still write while they end.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  try {
    await waitForPort(imap, dovecot, 'dovecot');
    await waitForPort(submission, dovecot, 'dovecot');
    if (smtpd !== undefined) await waitForPort(smtp, smtpd, 'smtpd');
  } catch (error) {
    const written = await log();
    await stop();
    throw new Error(`${(error as Error).message}\n${written}`, { cause: error });
  }
  return { imapPort: imap, submissionPort: submission, domain: 'mail.test', log, stop };
}
