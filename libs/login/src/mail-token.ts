/** What a link in a mail is good for. */
export type MailTokenKind = 'verify' | 'reset';

export interface MailToken {
  personId: string;
  id: string;
  kind: MailTokenKind;
  tokenHash: Buffer;
  createdAt: Date;
  expiresAt: Date;
}
