import type { ImapFlow } from 'imapflow';
import { type Connector, ConnectorError, defineConnector, type ToolContext } from '../connector.ts';
import { probeBy, verifyBy } from '../vendor-api/probe.ts';
import { createConnectionShares } from './connection-shares.ts';
import {
  accountLabel,
  addressesOf,
  type EmailCredential,
  emailCredentialSchema,
  expiryOf,
  isRefreshable,
} from './credential.ts';
import { createImapPool, type ImapPoolDependencies } from './imap/pool.ts';
import { MAIL_PROVIDERS, type MailProvider, oauthProviderOf } from './providers.ts';
import { refreshEmail } from './refresh.ts';
import { emailTools } from './tools.ts';

export interface EmailConnectorDependencies {
  pool?: ImapPoolDependencies;
  providers?: readonly MailProvider[];
}

/** A command that needs a login; the library reports its failure by hanging up alone. */
async function signOfLife(client: ImapFlow): Promise<void> {
  await client.noop();
  if (!client.usable) {
    throw new ConnectorError('platform_unavailable', 'the IMAP server hung up after the login');
  }
}

export function createEmailConnector(options: EmailConnectorDependencies = {}): Connector {
  const shares = options.pool?.shares ?? createConnectionShares();
  const pool = createImapPool({ ...options.pool, shares });
  const providers = options.providers ?? MAIL_PROVIDERS;

  /** Both servers are asked at once, each with a login of its own; nothing is read or sent. */
  async function logIn(context: ToolContext<EmailCredential>): Promise<void> {
    const { checkSmtp } = await import('./work.ts');
    await Promise.all([pool.use(context, signOfLife), checkSmtp(shares, context)]);
  }

  return defineConnector<EmailCredential>({
    id: 'email',
    title: 'E-mail',
    auth: {
      kind: 'settings',
      credentialSchema: emailCredentialSchema,
      secretFields: [
        '/imap/password',
        '/imap/access_token',
        '/smtp/password',
        '/smtp/access_token',
        '/refresh_token',
        '/oauth/client_secret',
      ],
      accountLabel,
      addresses: addressesOf,
      providers: providers.map(oauthProviderOf),
    },
    expiresAt: expiryOf,
    isRefreshable,
    refresh: (context) => refreshEmail(context, providers),
    verify: (context) =>
      verifyBy(async () => {
        await logIn(context);
        return accountLabel(context.credential);
      }),
    health: (context) =>
      probeBy(async () => {
        await logIn(context);
        return undefined;
      }),
    tools: emailTools({ pool, shares }),
    close: () => pool.close(),
  });
}
