/** The part that reads keys, and that of the server which the test bank uses; the package brings no types. */
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events';

  interface ParsedKey {
    type: string;
    getPublicSSH(): Buffer;
    /** Null of a public key. */
    getPrivatePEM(): string | null;
    verify(data: Buffer, signature: Buffer, hash?: string): boolean;
  }

  interface AuthenticationContext {
    method: string;
    username: string;
    key?: { algo: string; data: Buffer };
    signature?: Buffer;
    blob?: Buffer;
    hashAlgo?: string;
    accept(): void;
    reject(): void;
  }

  interface SftpStream extends EventEmitter {
    handle(requestId: number, handle: Buffer): void;
    status(requestId: number, code: number): void;
    data(requestId: number, data: Buffer): void;
    attrs(requestId: number, attrs: object): void;
    name(requestId: number, names: object[]): void;
  }

  class Server extends EventEmitter {
    constructor(
      options: { hostKeys: string[] },
      onClient: (client: EventEmitter & { end(): void; setNoDelay(on: boolean): void }) => void,
    );
    listen(port: number, host: string, onListening: () => void): void;
    address(): { port: number };
    close(onClosed: () => void): void;
  }

  const ssh2: {
    Server: typeof Server;
    utils: {
      parseKey(key: Buffer): ParsedKey | readonly ParsedKey[] | Error;
      /** Of a key that the caller made. */
      parseKey(key: string): ParsedKey;
      sftp: {
        STATUS_CODE: Readonly<Record<'OK' | 'EOF' | 'NO_SUCH_FILE' | 'FAILURE' | 'OP_UNSUPPORTED', number>>;
        OPEN_MODE: Readonly<Record<'READ' | 'WRITE' | 'APPEND' | 'CREAT' | 'TRUNC' | 'EXCL', number>>;
        flagsToString(flags: number): string;
      };
    };
  };
  export = ssh2;
}
