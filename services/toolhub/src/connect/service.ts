import { hash } from 'node:crypto';
import type { Database } from '@libs/db';
import type { CronEntry, Handler } from '@libs/jobs';
import { everyMinutes } from '@libs/jobs';
import { sealedColumn } from '@libs/rotation';
import { equalSecrets, hashToken, newToken, type RandomBytes, type Sealer } from '@libs/seal';
import { Check } from 'typebox/value';
import {
  type Connector,
  ConnectorError,
  type OAuthClient,
  type OAuthProvider,
} from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import type { CredentialRecord } from '../credentials/credential.ts';
import type { CredentialService } from '../credentials/service.ts';
import { errors } from '../errors.ts';
import { errorCodeOf, exchangeCode } from './exchange.ts';
import { scopesToAsk } from './scopes.ts';
import { deleteExpiredJourneys, insertJourney, takeJourney } from './store.ts';

export interface ConnectServiceDependencies {
  database: Database;
  sealer: Sealer;
  connectors: ConnectorService;
  credentials: Pick<CredentialService, 'put'>;
  /** The tools of a customer that are switched on, by name. */
  switchedOn: (customerId: string) => Promise<(tool: string) => boolean>;
  publicUrl: string;
  randomBytes: RandomBytes;
  now: () => Date;
  exchangeTimeoutMs?: number;
}

/** Who is on the way: the state is good for nobody else. */
export interface Traveller {
  customerId: string;
  platform: string;
  /** The value of the session cookie, or null for a caller with a token. */
  sessionToken: string | null;
}

/** What the vendor sent the browser back with. */
export interface LoginAnswer {
  state?: string;
  code?: string;
  error?: string;
}

export interface ConnectService {
  /** The address at the vendor where the customer says yes or no. */
  begin(traveller: Traveller, provider?: string): Promise<string>;
  /** Takes the state, exchanges the code and stores what came of it, after it was tried at the platform. */
  finish(traveller: Traveller, answer: LoginAnswer): Promise<CredentialRecord>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

const JOURNEY_MS = 15 * 60_000;
const JOURNEYS_MAX = 20;
const EXCHANGE_TIMEOUT_MS = 20_000;
const PURGE_MINUTES = 30;
const CODE_LENGTH_MAX = 4_096;

interface Destination {
  connector: Connector;
  provider: OAuthProvider;
  client: OAuthClient;
}

function contextOf(customerId: string, stateHash: Buffer): string {
  return JSON.stringify(['connect_states', customerId, stateHash.toString('hex')]);
}

export const sealedJourneys = sealedColumn({
  table: 'connect_states',
  column: 'sealed_verifier',
  key: { customer_id: 'text', state_hash: 'bytea' },
  contextOf: (row) => contextOf(row.customer_id, row.state_hash),
});

export function createConnectService(deps: ConnectServiceDependencies): ConnectService {
  const { database, sealer, connectors, credentials, publicUrl, randomBytes, now } = deps;
  const timeoutMs = deps.exchangeTimeoutMs ?? EXCHANGE_TIMEOUT_MS;
  // Vendors compare this as written with what the operator registered there.
  const redirectUriOf = (platform: string) => `${publicUrl}/api/connect/${platform}/callback`;

  function destinationOf(platform: string, wanted?: string): Destination {
    const connector = connectors.find(platform);
    if (connector === undefined) throw errors.not_found();
    const providers = connector.auth.providers ?? [];
    if (providers.length === 0) {
      throw errors.connect_not_supported({
        detail: `${connector.title} is not connected in the browser: store its credential with PUT /api/credentials/${platform}.`,
      });
    }
    const candidates = providers.filter(({ id }) => wanted === undefined || id === wanted);
    if (candidates.length === 0) {
      const detail = `Must be one of ${providers.map(({ id }) => id).join(', ')}.`;
      throw errors.invalid_query({ errors: [{ parameter: 'provider', code: 'unknown_provider', detail }] });
    }
    for (const provider of candidates) {
      const client = connectors.oauthClient(platform, provider.id);
      if (client !== null) return { connector, provider, client };
    }
    throw errors.not_configured({
      detail:
        `The operator has not registered this service at ${candidates.map(({ title }) => title).join(' or ')}. ` +
        `A token from there works all the same: store it with PUT /api/credentials/${platform}.`,
    });
  }

  /** All that can be wrong with a state looks the same from outside. */
  async function takeState({ customerId, platform, sessionToken }: Traveller, state: string) {
    const stateHash = hashToken(state);
    const journey = await takeJourney(database, { customerId, stateHash, now: now() });
    if (journey === undefined || journey.platform !== platform) throw errors.connect_state_invalid();
    const isSameSession =
      journey.sessionHash === null ||
      (sessionToken !== null && equalSecrets(journey.sessionHash, hashToken(sessionToken)));
    if (!isSameSession) throw errors.connect_state_invalid();
    const verifier = sealer.openText(journey.sealedVerifier, contextOf(customerId, stateHash));
    return { provider: journey.provider, verifier };
  }

  async function obtainCredential(
    { connector, provider, client }: Destination,
    { customerId, code, verifier }: { customerId: string; code: string; verifier: string },
  ): Promise<unknown> {
    const signal = AbortSignal.timeout(timeoutMs);
    const { fetch } = connectors.context({
      ...{ platform: connector.id, credential: null, customerId, account: '', signal },
    });
    const redirectUri = redirectUriOf(connector.id);
    const outcome = await exchangeCode({ provider, client, code, verifier, redirectUri, fetch });
    if (outcome.kind === 'refused') {
      throw errors.connect_failed({
        detail: `${provider.title} did not accept the login (${outcome.reason}).`,
        extra: { platform_code: outcome.reason },
      });
    }
    return provider.toCredential({ answer: outcome.answer, client, now: now(), fetch });
  }

  return {
    async begin({ customerId, platform, sessionToken }, wanted) {
      const { provider, client } = destinationOf(platform, wanted);
      const scopes = scopesToAsk(provider, await deps.switchedOn(customerId));
      const state = newToken('', randomBytes);
      const verifier = newToken('', randomBytes);
      const stateHash = hashToken(state);
      const createdAt = now();
      const journey = {
        ...{ customerId, stateHash, platform, provider: provider.id, createdAt },
        sessionHash: sessionToken === null ? null : hashToken(sessionToken),
        sealedVerifier: sealer.seal(verifier, contextOf(customerId, stateHash)),
        expiresAt: new Date(createdAt.getTime() + JOURNEY_MS),
      };
      await insertJourney(database, journey, JOURNEYS_MAX);
      const url = new URL(client.authorizeUrl ?? provider.authorizeUrl);
      const query = {
        ...provider.authorizeParameters,
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUriOf(platform),
        scope: scopes.join(provider.scopeSeparator ?? ' '),
        state,
        ...(provider.pkce === false
          ? {}
          : { code_challenge: hash('sha256', verifier, 'base64url'), code_challenge_method: 'S256' }),
      };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return url.href;
    },

    async finish(traveller, { state, code, error }) {
      const { customerId, platform } = traveller;
      if (connectors.find(platform) === undefined) throw errors.not_found();
      if (state === undefined) throw errors.connect_state_invalid();
      const journey = await takeState(traveller, state);
      const destination = destinationOf(platform, journey.provider);
      if (error === 'access_denied') throw errors.connect_denied();
      if (error !== undefined || code === undefined || code === '' || code.length > CODE_LENGTH_MAX) {
        const reason = error === undefined ? 'no_code' : errorCodeOf(error);
        throw errors.connect_failed({
          detail: `${destination.provider.title} ended the login without a result (${reason}).`,
          extra: { platform_code: reason },
        });
      }
      let credential: unknown;
      try {
        credential = await obtainCredential(destination, { customerId, code, verifier: journey.verifier });
      } catch (cause) {
        throw asUnreachable(cause, destination.provider.title);
      }
      if (!Check(destination.connector.auth.credentialSchema, credential)) {
        throw errors.connect_failed({ detail: `${destination.provider.title} sent an answer of no use.` });
      }
      return credentials.put({ customerId, platform, credential, verify: true });
    },

    jobs: {
      handlers: [{ name: 'connect.purge', handle: () => deleteExpiredJourneys(database, now()) }],
      cron: [{ name: 'connect.purge', schedule: everyMinutes(PURGE_MINUTES) }],
    },
  };
}

/** The code is spent by now, so whatever the reason: the customer starts over. */
function asUnreachable(cause: unknown, title: string): unknown {
  if (cause instanceof ConnectorError) {
    return errors.platform_unreachable({
      detail: `The login at ${title} could not be finished: ${cause.message}.`,
      cause,
    });
  }
  const isTimeout = cause instanceof DOMException && cause.name === 'TimeoutError';
  return isTimeout
    ? errors.platform_unreachable({ detail: `${title} did not answer in time.`, cause })
    : cause;
}
