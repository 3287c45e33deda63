import type { Mailer, MailerDependencies } from './mail.ts';

/** The library that writes mails is loaded with the first one: most processes send none. */
export function createMailer(options: MailerDependencies): Mailer {
  let opened: Promise<Mailer> | undefined;
  return {
    async send(mail) {
      opened ??= openTransport(options);
      const transport = await opened;
      await transport.send(mail);
    },
    async close() {
      const transport = await opened;
      await transport?.close();
    },
  };
}

async function openTransport({ smtpUrl, ...options }: MailerDependencies): Promise<Mailer> {
  if (smtpUrl === undefined) {
    const { createFolderTransport } = await import('./folder.ts');
    return createFolderTransport(options);
  }
  const { createSmtpTransport } = await import('./smtp.ts');
  return createSmtpTransport({ ...options, smtpUrl });
}
