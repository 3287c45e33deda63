import { MailError, type Mailer } from './mail.ts';

/**
 * For mails that nobody waits to see delivered. One whose recipient is refused for good is told of and counts as done:
 * no later try would change that, and a job that fails again and again calls somebody who can do nothing.
 */
export function createNoticeMailer(
  mailer: Pick<Mailer, 'send'>,
  onRefused: (error: MailError, mailId: string) => void,
): Pick<Mailer, 'send'> {
  return {
    async send(mail) {
      try {
        await mailer.send(mail);
      } catch (error) {
        if (!(error instanceof MailError && error.kind === 'recipient_refused')) throw error;
        onRefused(error, mail.id);
      }
    },
  };
}
