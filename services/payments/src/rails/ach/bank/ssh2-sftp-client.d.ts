/** The part of the client that is used here; the package brings no types. */
declare module 'ssh2-sftp-client' {
  interface FileInfo {
    /** `-` for files, `d` for folders. */
    type: string;
    name: string;
    size: number;
    /** Milliseconds. */
    modifyTime: number;
  }

  interface ConnectOptions {
    sock: import('node:net').Socket;
    username: string;
    password?: string;
    privateKey?: Buffer;
    readyTimeout: number;
    keepaliveInterval: number;
    keepaliveCountMax: number;
    hostVerifier: (key: Buffer) => boolean;
  }

  interface Callbacks {
    error?: (error: Error) => void;
    end?: () => void;
    close?: () => void;
  }

  class SftpClient {
    constructor(name?: string, callbacks?: Callbacks);
    connect(options: ConnectOptions): Promise<unknown>;
    list(path: string): Promise<FileInfo[]>;
    exists(path: string): Promise<false | 'd' | '-' | 'l'>;
    stat(path: string): Promise<{ size: number; modifyTime: number }>;
    get(path: string): Promise<Buffer>;
    put(content: Buffer, path: string): Promise<string>;
    append(content: Buffer, path: string): Promise<string>;
    rename(from: string, to: string): Promise<string>;
    delete(path: string): Promise<string>;
    mkdir(path: string, recursive?: boolean): Promise<string>;
    end(): Promise<boolean>;
  }
  export = SftpClient;
}
