// What leaves beyond ASCII, byte by byte: a server need not take it between quotes.
import { afterEach, describe, expect, it } from 'vitest';
import type { ImapReply, ImapScript } from '../test/hostile-imap-server.ts';
import { createScriptedMailboxes } from '../test/scripted-mailboxes.ts';

const mailboxes = createScriptedMailboxes();
afterEach(() => mailboxes.close());

/** The lines of a search and of the login before it, in which each character stands for a byte. */
async function linesOf(args: object, { password = 'p', script = {} as ImapScript } = {}): Promise<string[]> {
  const lines: string[] = [];
  const note: ImapReply = ({ line, ok }) => {
    lines.push(line);
    return ok();
  };
  const login = { user: 'bøb', password };
  const call = await mailboxes.callerFor({ ...script, LOGIN: note, 'UID SEARCH': note }, login);
  await call('email_search_messages', { folder: 'INBOX', ...args });
  return lines.map((line) => line.slice(line.indexOf(' ') + 1));
}

const bytes = (text: string) => Buffer.from(text).toString('latin1');

describe('words beyond ASCII', () => {
  it('leave as literals, of as many bytes as they say', async () => {
    const [login, search] = await linesOf(
      { subject: 'Größe "1"', from: 'ann', query: '漢字' },
      { password: 'pässword' },
    );
    expect(login).toBe(`LOGIN {4}${bytes('bøb')} {9}${bytes('pässword')}`);
    expect(search).toContain('CHARSET UTF-8 ');
    expect(search).toContain(` SUBJECT {11}${bytes('Größe "1"')}`);
    expect(search).toContain(` TEXT {6}${bytes('漢字')}`);
    expect(search).toContain(' FROM ann');
  });

  it('leave between quotes where the server has agreed to read UTF-8', async () => {
    const CAPABILITY = '* CAPABILITY IMAP4rev1 ENABLE UTF8=ACCEPT\r\n';
    const ENABLE = '* ENABLED UTF8=ACCEPT\r\n';
    const [, search] = await linesOf({ subject: 'Größe' }, { script: { CAPABILITY, ENABLE } });
    expect(search).toContain(` SUBJECT "${bytes('Größe')}"`);
    expect(search).not.toContain('CHARSET');
  });

  it('are no concern of those within ASCII', async () => {
    const [, search] = await linesOf({ subject: 'size "1"' });
    expect(search).toContain(' SUBJECT "size \\"1\\""');
  });
});
