/** A file as it goes to the bank. Names are unique, so sending one again is harmless. */
export interface OutboundFile {
  name: string;
  content: string;
  /** When it left, in the time of its scope. */
  asOf: Date;
  /** Whether an earlier try has brought it over whole, so that the bank may have taken it away already. */
  isUploaded: boolean;
  /** Writes that down; called before the bank can see the file. */
  noteUploaded: () => Promise<void>;
}

export interface InboundFile {
  name: string;
  /** One character per byte. */
  content: string;
}

interface Collected {
  /** Oldest first. */
  files: readonly InboundFile[];
  /** Whether these are all that lie there: what is still being written, or cannot be read, may hold returns, too. */
  isAll: boolean;
}

/** A bank that says nothing has taken the file; what is wrong with its entries comes back as returns. */
export type SendResult = { ok: true } | { ok: false; reasons: readonly string[] };

/** One line to a bank: a folder on a server, or the sandbox's operator. */
export interface AchTransport {
  send(file: OutboundFile): Promise<SendResult>;
  /** Files that lie there for us, a few at a time, and none only where none can be read. They come again until they are acknowledged. */
  collect(asOf: Date): Promise<Collected>;
  acknowledge(name: string): Promise<void>;
  /** When the next answer will lie there. Only the sandbox can know; a bank is asked at intervals. */
  nextAnswerAt(): Promise<Date | null>;
}
