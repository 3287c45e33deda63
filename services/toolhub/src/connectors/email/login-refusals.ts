/**
 * Logins that servers refuse for what no other password, token or try mends. Each is known by the words of the server that
 * has it, since the codes beside them say "authentication failed" of all alike.
 */
const REFUSALS: readonly { words: RegExp; platformCode: string; message: string }[] = [
  {
    // Exchange says so of every command after a login that it took.
    words: /user is authenticated but not connected/i,
    platformCode: 'NOT_CONNECTED',
    message:
      'Exchange took the login but opens no mailbox for it: have IMAP switched on for this mailbox, use its own address as ' +
      'the user name, and log in as the person whose mailbox it is',
  },
  {
    words: /SmtpClientAuthentication is disabled/i,
    platformCode: 'SMTP_DISABLED',
    message: 'this mailbox may not send by SMTP: have its administrator switch on authenticated SMTP for it',
  },
  {
    words: /basic authentication is disabled/i,
    platformCode: 'PASSWORD_DISABLED',
    message: 'the mail server takes no passwords any more: connect the account by a login in the browser',
  },
  {
    words: /application-specific password required/i,
    platformCode: 'APP_PASSWORD_REQUIRED',
    message: 'the mail server wants an app password, which is made in the settings of the account',
  },
  {
    words: /log ?in via your web browser|web login required/i,
    platformCode: 'WEB_LOGIN_REQUIRED',
    message:
      'the mail provider wants to see the account logged in on its own pages first: do that, and connect the account by a ' +
      'login in the browser or with an app password',
  },
  {
    words: /locked by your organization's security defaults/i,
    platformCode: 'LOCKED_BY_POLICY',
    message:
      "the organisation's security defaults refuse this login: its administrator can allow it for the mailbox",
  },
  {
    words: /not enabled for IMAP|IMAP access is disabled/i,
    platformCode: 'IMAP_DISABLED',
    message:
      'IMAP is switched off for this mailbox: switch it on in its settings, or have its administrator do so',
  },
];

/** What the owner of the mailbox has to do, where the server's words tell more than that it refused. */
export function knownLoginRefusal(text: unknown): { platformCode: string; message: string } | undefined {
  if (typeof text !== 'string') return undefined;
  return REFUSALS.find(({ words }) => words.test(text));
}
