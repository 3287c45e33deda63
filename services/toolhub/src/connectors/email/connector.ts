import { randomUUID } from 'node:crypto';
import {
  type Connector,
  ConnectorError,
  defineConnector,
  type HealthProbe,
  type ToolContext,
  type VerifyOutcome,
} from '../connector.ts';
import {
  accountLabel,
  addressesOf,
  type EmailCredential,
  emailCredentialSchema,
  expiryOf,
  isRefreshable,
} from './credential.ts';
import { createImapPool, type ImapPoolOptions } from './imap-pool.ts';
import { refreshEmail } from './refresh.ts';
import { checkSmtp } from './smtp.ts';
import { emailTools } from './tools.ts';

export interface EmailConnectorOptions {
  pool?: ImapPoolOptions;
  newMessageId?: (domain: string) => string;
}

export function createEmailConnector(options: EmailConnectorOptions = {}): Connector {
  const pool = createImapPool(options.pool);
  const newMessageId = options.newMessageId ?? ((domain) => `<${randomUUID()}@${domain}>`);

  /** Both servers are asked at once, each with a login of its own; nothing is read or sent. */
  async function logIn(context: ToolContext<EmailCredential>): Promise<void> {
    await Promise.all([pool.use(context, (client) => client.noop()), checkSmtp(context)]);
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
    },
    expiresAt: expiryOf,
    isRefreshable,
    refresh: refreshEmail,
    async verify(context): Promise<VerifyOutcome> {
      try {
        await logIn(context);
        return { kind: 'accepted', account: accountLabel(context.credential) };
      } catch (error) {
        if (
          error instanceof ConnectorError &&
          (error.code === 'token_expired' || error.code === 'platform_error')
        ) {
          return { kind: 'rejected', reason: error.message };
        }
        throw error;
      }
    },
    async health(context): Promise<HealthProbe> {
      try {
        await logIn(context);
        return { status: 'ok', message: null };
      } catch (error) {
        return probeOf(error);
      }
    },
    tools: emailTools({ pool, newMessageId }),
    close: () => pool.close(),
  });
}

function probeOf(error: unknown): HealthProbe {
  if (!(error instanceof ConnectorError)) throw error;
  switch (error.code) {
    case 'token_expired':
      return { status: 'token_expired', message: error.message };
    case 'rate_limited':
      return { status: 'degraded', message: error.message };
    default:
      return { status: 'down', message: error.message };
  }
}
