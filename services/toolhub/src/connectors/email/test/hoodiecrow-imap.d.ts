/** What is used of hoodiecrow-imap, an IMAP server in memory that comes without types. */
declare module 'hoodiecrow-imap' {
  import type { Server } from 'node:net';

  interface HoodiecrowMailbox {
    path: string;
    messages: { uid: number; flags: string[]; raw: string }[];
  }
  interface HoodiecrowOptions {
    plugins?: string[];
    users?: Record<string, { password?: string; xoauth2?: { accessToken: string; sessionTimeout: number } }>;
    storage?: Record<string, unknown>;
    secureConnection?: boolean;
    credentials?: { key: string; cert: string };
  }
  interface Hoodiecrow {
    server: Server;
    users: NonNullable<HoodiecrowOptions['users']>;
    listen(port: number, host: string, done: () => void): void;
    close(done: () => void): void;
    getMailbox(path: string): HoodiecrowMailbox | undefined;
    appendMessage(mailbox: string, flags: string[], internalDate: string | false, raw: string): unknown;
  }
  export default function hoodiecrow(options?: HoodiecrowOptions): Hoodiecrow;
}
