import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@libs/runtime';
import { createTransport } from 'nodemailer';
import { MailError, type Mailer, type MailerDependencies } from './mail.ts';
import { toMessage } from './message.ts';

/** Writes each mail to `<id>.eml`. A file appears whole or not at all, and a repeat replaces it. */
export function createFolderTransport(options: Omit<MailerDependencies, 'smtpUrl'>): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      if (!/^[\w.-]{1,200}$/.test(mail.id)) throw new TypeError('the id of a mail is not a plain name');
      const { message } = await composer.sendMail(toMessage(mail, options));
      const draft = join(options.folder, `.${mail.id}.${randomBytes(6).toString('hex')}`);
      try {
        await makeFolder(options.folder);
        await writeDurably(draft, message as Buffer);
        await rename(draft, join(options.folder, `${mail.id}.eml`));
      } catch (error) {
        // The first error is the one to tell; a draft that stays behind is in nobody's way.
        await rm(draft, { force: true }).catch(() => {});
        throw new MailError('unreachable', `the mail folder cannot be written: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
    async close() {
      composer.close();
    },
  };
}

async function writeDurably(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
