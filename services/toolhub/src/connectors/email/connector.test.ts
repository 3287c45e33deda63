// The tools against servers in this process: the round trip, and what a real server does only on a bad day.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Connector, ToolContext } from '../connector.ts';
import { closeTestContexts, testContext } from '../test/tool-runner.ts';
import { createEmailConnector } from './connector.ts';
import type { EmailCredential } from './credential.ts';
import { type InProcessMailServer, startInProcessMail } from './test/in-process-mail-server.ts';
import { callerOf, findArrived, itDoesTheRoundTrip, type MailSetup, plainMail } from './test/scenarios.ts';

const USERS = { 'alice@mail.test': 'pass-a', 'bob@mail.test': 'pass-b' };

function contextFor(
  mail: InProcessMailServer,
  overrides: Partial<Parameters<typeof testContext>[0]> & { user?: string; from?: string; secret?: object } = {},
): ToolContext<EmailCredential> {
  const { user = 'bob@mail.test', from = user, secret = { password: USERS[user as keyof typeof USERS] }, ...rest } = overrides;
  const server = (port: number) => ({ host: '127.0.0.1', port, secure: false, user, ...secret });
  const credential = { imap: server(mail.imapPort), smtp: server(mail.smtpPort), from };
  const allow = [`127.0.0.1:${mail.imapPort}`, `127.0.0.1:${mail.smtpPort}`];
  return testContext({ platform: 'email', credential, allow, customerId: user, ...rest }) as ToolContext<EmailCredential>;
}

describe('e-mail in this process', () => {
  let mail: InProcessMailServer;
  let connector: Connector;
  let setup: MailSetup;

  beforeAll(async () => {
    mail = await startInProcessMail({ users: USERS });
    connector = createEmailConnector();
    setup = {
      connector,
      alice: contextFor(mail, { user: 'alice@mail.test', from: 'Alice Ärmel <alice@mail.test>' }),
      bob: contextFor(mail),
      oddFolder: 'Entwürfe & Co',
    };
  });
  afterAll(async () => {
    await connector.close?.();
    await closeTestContexts();
    await mail.stop();
  });

  itDoesTheRoundTrip(() => setup);
});
