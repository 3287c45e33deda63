import { createHash, generateKeyPairSync } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';

/** A real SFTP server over a folder, as a bank would run it: keys alone, no overwriting by rename. */

const { STATUS_CODE } = ssh2.utils.sftp;

interface SftpStream extends EventEmitter {
  handle(requestId: number, handle: Buffer): void;
  status(requestId: number, code: number): void;
  data(requestId: number, data: Buffer): void;
  attrs(requestId: number, attrs: object): void;
  name(requestId: number, names: object[]): void;
}

export interface SftpBank {
  url: string;
  fingerprint: string;
  privateKeyPath: string;
  /** Where the bank sees the files. */
  folder: string;
  /** Cuts every connection after this many more bytes were written; null lets everything through. */
  cutAfterBytes: number | null;
  /** Lets the bank do something of its own right before and after we rename a file. */
  aroundRename: (rename: () => Promise<void>) => Promise<void>;
  /** The same before we get the list of a folder that was made. */
  afterListing: () => Promise<void>;
  connections: number;
  /** Lets us in, and then says nothing: what is behind the door hangs. */
  isMute: boolean;
  close(): Promise<void>;
}

/** PEM, made by Node: about one in a hundred Ed25519 keys that ssh2 makes cannot be read by itself. */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}

export async function startSftpBank(host = '127.0.0.1'): Promise<SftpBank> {
  const root = await mkdtemp(join(tmpdir(), 'sftp-bank-'));
  const folder = join(root, 'files');
  await mkdir(join(folder, 'outbound'), { recursive: true });
  await mkdir(join(folder, 'inbound'), { recursive: true });
  const hostKey = newPrivateKey();
  const clientKey = newPrivateKey();
  const privateKeyPath = join(root, 'client-key');
  await writeFile(privateKeyPath, clientKey);
  const allowed = ssh2.utils.parseKey(clientKey);
  const hostPublic = ssh2.utils.parseKey(hostKey).getPublicSSH();
  const clients = new Set<{ end(): void }>();
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    clients.add(client);
    client.setNoDelay(true);
    bank.connections += 1;
    client.on('close', () => clients.delete(client));
    client.on('error', () => clients.delete(client));
    client.on('authentication', (attempt) => {
      const isKnown = attempt.method === 'publickey' && attempt.key?.data.equals(allowed.getPublicSSH());
      const isProven =
        !attempt.signature || allowed.verify(attempt.blob, attempt.signature, attempt.hashAlgo) === true;
      if (isKnown && isProven) attempt.accept();
      else attempt.reject();
    });
    client.on('session', (accept) =>
      accept().on('sftp', (acceptSftp: () => SftpStream) => {
        if (!bank.isMute) serve(acceptSftp(), bank, () => client.end());
      }),
    );
  });
  await new Promise<void>((done) => server.listen(0, host, done));
  const fingerprint = createHash('sha256').update(hostPublic).digest('base64').replace(/=+$/, '');
  const bank: SftpBank = {
    url: `sftp://house@${isIPv6(host) ? `[${host}]` : host}:${server.address().port}/`,
    fingerprint: `SHA256:${fingerprint}`,
    privateKeyPath,
    folder,
    cutAfterBytes: null,
    aroundRename: (rename) => rename(),
    afterListing: async () => {},
    connections: 0,
    isMute: false,
    async close() {
      for (const client of clients) client.end();
      await new Promise<void>((done) => server.close(done));
      await rm(root, { recursive: true, force: true });
    },
  };
  return bank;
}

/** Answers the requests of one connection; a failure of the file system is the answer that the protocol has for it. */
function serve(sftp: SftpStream, bank: SftpBank, cut: () => void): void {
  const files = new Map<number, FileHandle>();
  const folders = new Map<number, string[]>();
  let handles = 0;
  const place = (path: string) => join(bank.folder, path);
  const numberOf = (handle: Buffer) => handle.readUInt32BE(0);
  const newHandle = (): { number: number; handle: Buffer } => {
    handles += 1;
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(handles);
    return { number: handles, handle };
  };
  sftp.on('close', () => {
    for (const file of files.values()) void file.close();
  });
  const on = <Args extends unknown[]>(event: string, act: (id: number, ...args: Args) => Promise<void>) =>
    sftp.on(event, (id: number, ...args: unknown[]) => {
      act(id, ...(args as Args)).catch((error: NodeJS.ErrnoException) =>
        sftp.status(id, error.code === 'ENOENT' ? STATUS_CODE.NO_SUCH_FILE : STATUS_CODE.FAILURE),
      );
    });
  const attributes = async (path: string) => {
    const { mode, size, mtimeMs, atimeMs, uid, gid } = await stat(place(path));
    return { mode, size, uid, gid, mtime: Math.floor(mtimeMs / 1_000), atime: Math.floor(atimeMs / 1_000) };
  };
  const ok = (id: number) => sftp.status(id, STATUS_CODE.OK);

  on('REALPATH', async (id, path: string) =>
    sftp.name(id, [{ filename: join('/', path), longname: '', attrs: {} }]),
  );
  for (const event of ['STAT', 'LSTAT'])
    on(event, async (id, path: string) => sftp.attrs(id, await attributes(path)));
  on('OPEN', async (id, path: string, flags: number) => {
    const file = await open(place(path), ssh2.utils.sftp.flagsToString(flags));
    const { number, handle } = newHandle();
    files.set(number, file);
    sftp.handle(id, handle);
  });
  on('FSTAT', async (id, handle: Buffer) => {
    const { mode, size } = (await files.get(numberOf(handle))?.stat()) ?? { mode: 0, size: 0 };
    sftp.attrs(id, { mode, size, uid: 0, gid: 0, atime: 0, mtime: 0 });
  });
  on('READ', async (id, handle: Buffer, offset: number, length: number) => {
    const read = await files.get(numberOf(handle))?.read(Buffer.alloc(length), 0, length, offset);
    if (!read || read.bytesRead === 0) sftp.status(id, STATUS_CODE.EOF);
    else sftp.data(id, read.buffer.subarray(0, read.bytesRead));
  });
  on('WRITE', async (id, handle: Buffer, offset: number, data: Buffer) => {
    let part = data;
    if (bank.cutAfterBytes !== null) {
      part = data.subarray(0, bank.cutAfterBytes);
      bank.cutAfterBytes -= part.length;
    }
    await files.get(numberOf(handle))?.write(part, 0, part.length, offset);
    if (part.length < data.length) cut();
    else ok(id);
  });
  on('CLOSE', async (id, handle: Buffer) => {
    await files.get(numberOf(handle))?.close();
    files.delete(numberOf(handle));
    folders.delete(numberOf(handle));
    ok(id);
  });
  on('OPENDIR', async (id, path: string) => {
    const names = await readdir(place(path));
    const { number, handle } = newHandle();
    folders.set(
      number,
      names.map((name) => join(path, name)),
    );
    sftp.handle(id, handle);
  });
  on('READDIR', async (id, handle: Buffer) => {
    const paths = folders.get(numberOf(handle)) ?? [];
    folders.set(numberOf(handle), []);
    if (paths.length === 0) return sftp.status(id, STATUS_CODE.EOF);
    const names = await Promise.all(
      paths.map(async (path) => {
        const attrs = await attributes(path);
        const isFolder = (await stat(place(path))).isDirectory();
        const filename = path.slice(path.lastIndexOf('/') + 1);
        return { filename, longname: `${isFolder ? 'd' : '-'}rw-r--r-- 1 bank bank`, attrs };
      }),
    );
    await bank.afterListing();
    sftp.name(id, names);
  });
  on('RENAME', async (id, from: string, to: string) => {
    const isTaken = await stat(place(to)).then(
      () => true,
      () => false,
    );
    if (isTaken) return sftp.status(id, STATUS_CODE.FAILURE);
    await bank.aroundRename(() => rename(place(from), place(to)));
    ok(id);
  });
  on('REMOVE', async (id, path: string) => {
    await unlink(place(path));
    ok(id);
  });
  on('MKDIR', async (id, path: string) => {
    await mkdir(place(path));
    ok(id);
  });
}
