export interface MailAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
}

export interface Mail {
  /**
   * Names the mail for good, without angle brackets and host: a repeat carries the same Message-ID, by which mail
   * systems recognise it, and in the folder it replaces its file.
   */
  id: string;
  /** The address alone: a name is text of the customer's choice, and mail holds none that a stranger chose. */
  to: string;
  subject: string;
  text: string;
  attachments?: readonly MailAttachment[];
}

/** Mail that the service itself sends: invoices and notices about the account. */
export interface Mailer {
  /** Resolves when the mail has been handed over; rejects with `MailError`. */
  send(mail: Mail): Promise<void>;
  close(): Promise<void>;
}

export interface MailerDependencies {
  /** Undefined: `.eml` files in `folder`. */
  smtpUrl: string | undefined;
  folder: string;
  /** As in a header: `Toolhub <billing@example.com>`. */
  from: string;
  /** The host behind the @ of a Message-ID. */
  host: string;
  now: () => Date;
}

/**
 * `unreachable`: no mail can leave now. `refused`: this one was turned down, and may be taken later. `recipient_refused`:
 * there is no such mailbox, and no later try will find it.
 */
export type MailErrorKind = 'unreachable' | 'refused' | 'recipient_refused';

export class MailError extends Error {
  override readonly name = 'MailError';
  readonly kind: MailErrorKind;
  /** All of it was handed over and no answer came: it may arrive, and so may a repeat. */
  readonly mayHaveLeft: boolean;

  constructor(
    kind: MailErrorKind,
    message: string,
    { mayHaveLeft = false, ...options }: ErrorOptions & { mayHaveLeft?: boolean } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.mayHaveLeft = mayHaveLeft;
  }
}
