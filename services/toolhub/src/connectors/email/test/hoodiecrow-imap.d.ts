/** What is used of hoodiecrow-imap, an IMAP server in memory that comes without types. */
declare module 'hoodiecrow-imap' {
  import type { Server } from 'node:net';

  interface HoodiecrowMailbox {
    path: string;
    messages: { uid: number; flags: string[]; raw: string }[];
  }
  interface HoodiecrowOptions {
    plugins?: (string | HoodiecrowPlugin)[];
    users?: Record<string, { password?: string }>;
    storage?: Record<string, unknown>;
    secureConnection?: boolean;
    credentials?: { key: string; cert: string };
  }
  interface HoodiecrowConnection {
    state: string;
    send(response: object, description: string, parsed: object, data: unknown): void;
  }
  interface HoodiecrowCommand {
    tag: string;
    attributes: { value: string }[];
  }
  interface Hoodiecrow {
    registerCapability(name: string, isOffered: (connection: HoodiecrowConnection) => boolean): void;
    setCommandHandler(
      command: string,
      handle: (
        connection: HoodiecrowConnection,
        parsed: HoodiecrowCommand,
        data: unknown,
        done: () => void,
      ) => void,
    ): void;
    server: Server;
    users: NonNullable<HoodiecrowOptions['users']>;
    listen(port: number, host: string, done: () => void): void;
    close(done: () => void): void;
    getMailbox(path: string): HoodiecrowMailbox | undefined;
    appendMessage(mailbox: string, flags: string[], internalDate: string | false, raw: string): unknown;
  }
  export type HoodiecrowPlugin = (server: Hoodiecrow) => void;
  // biome-ignore lint/style/noDefaultExport: the module is what it is.
  export default function hoodiecrow(options?: HoodiecrowOptions): Hoodiecrow;
}
