import { hash } from 'node:crypto';
import type { Database } from '@libs/db';
import type { CronEntry, Handler } from '@libs/jobs';
import { everyMinutes } from '@libs/jobs';
import { sealedColumn } from '@libs/rotation';
import {
  equalSecrets,
  hashToken,
  ifReadable,
  isKeyMissing,
  newToken,
  type RandomBytes,
  type Sealer,
} from '@libs/seal';
import { Check } from 'typebox/value';
import {
  type Connector,
  ConnectorError,
  type OAuthClient,
  type OAuthProvider,
} from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import { placeAt } from '../connectors/vendor-api/credential-fields.ts';
import type { CredentialRecord } from '../credentials/credential.ts';
import type { CredentialService } from '../credentials/service.ts';
import type { Standing } from '../customers/standing.ts';
import { errors } from '../errors.ts';
import { errorCodeOf, exchangeCode } from './exchange.ts';
import { scopesToAsk } from './scopes.ts';
import { createServers } from './servers.ts';
import { deleteExpiredJourneys, insertJourney, takeJourney } from './store.ts';

export interface ConnectServiceDependencies {
  database: Database;
  sealer: Sealer;
  lostKeyIds: readonly string[];
  connectors: ConnectorService;
  credentials: Pick<CredentialService, 'put'>;
  /** The tools of a customer that are switched on, by name. */
  switchedOn: (customerId: string) => Promise<(tool: string) => boolean>;
  publicUrl: string;
  randomBytes: RandomBytes;
  newLeaseId: () => string;
  now: () => Date;
  exchangeTimeoutMs?: number;
}

/** Who is on the way: the state is good for nobody else. */
export interface Traveller {
  customerId: string;
  platform: string;
  /** The value of the session cookie, or null for a caller with a token. */
  sessionToken: string | null;
  standing: Standing;
}

/** What the customer chose where there is something to choose. */
export interface LoginChoice {
  provider?: string | undefined;
  /** For a vendor of many servers: the one that has the account, as an address or a host name. */
  server?: string | undefined;
}

/** What the vendor sent the browser back with. */
export interface LoginAnswer {
  state?: string;
  code?: string;
  error?: string;
}

export interface ConnectService {
  /** The address at the vendor where the customer says yes or no. */
  begin(traveller: Traveller, choice?: LoginChoice): Promise<string>;
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
  /** Null for a vendor of many servers: each has its own. */
  client: OAuthClient | null;
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
  const servers = createServers(deps);
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
      if (provider.perServer !== undefined) return { connector, provider, client: null };
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
    const verifier = ifReadable(() =>
      sealer.openText(journey.sealedVerifier, contextOf(customerId, stateHash)),
    );
    if (verifier === undefined) throw errors.connect_state_invalid();
    return { provider: journey.provider, server: journey.server, verifier };
  }

  function contextAt(platform: string, customerId: string) {
    const signal = AbortSignal.timeout(timeoutMs);
    return connectors.context({ platform, credential: null, customerId, account: '', signal });
  }

  /** The client for one login; registers at the customer's server where that is the way. */
  async function clientFor(
    { connector, provider, client }: Destination,
    { customerId, server }: { customerId: string; server: string | null },
  ): Promise<OAuthClient> {
    if (client !== null) return client;
    const { perServer } = provider;
    if (perServer === undefined || server === null) throw new Error(`${provider.id} has no server`);
    const { fetch, guard, baseUrl } = contextAt(connector.id, customerId);
    try {
      // What the operator moved elsewhere is the operator's address, whatever the customer wrote.
      if (baseUrl === null) await guard.resolve(placeAt(server));
      return await servers.clientAt({
        ...{ platform: connector.id, provider: { ...provider, perServer }, server, fetch },
        ...{ address: baseUrl ?? server, redirectUri: redirectUriOf(connector.id), website: publicUrl },
      });
    } catch (cause) {
      if (cause instanceof ConnectorError && cause.code === 'address_refused')
        throw errors.address_refused({ detail: cause.message, cause });
      if (isKeyMissing(cause)) throw errors.not_ready({ cause, retryAfterSeconds: 1 });
      throw asUnreachable(cause, new URL(server).host);
    }
  }

  async function knownClient(
    { connector, provider, client }: Destination,
    { customerId, server }: { customerId: string; server: string | null },
  ): Promise<OAuthClient> {
    if (client !== null) return client;
    const { perServer } = provider;
    if (perServer === undefined || server === null) throw errors.connect_state_invalid();
    const address = contextAt(connector.id, customerId).baseUrl ?? server;
    const known = await servers.knownClient({
      ...{ platform: connector.id, provider: { ...provider, perServer }, server, address },
    });
    if (known === null) throw errors.connect_state_invalid();
    return known;
  }

  async function obtainCredential(
    destination: Destination,
    login: { customerId: string; code: string; verifier: string; server: string | null },
  ): Promise<unknown> {
    const { connector, provider } = destination;
    const { customerId, code, verifier, server } = login;
    const client = await knownClient(destination, login);
    const { fetch } = contextAt(connector.id, customerId);
    const redirectUri = redirectUriOf(connector.id);
    const outcome = await exchangeCode({ provider, client, code, verifier, redirectUri, fetch });
    if (outcome.kind === 'refused') {
      // A server that forgot us would refuse every later login, too: the next one registers anew.
      if (server !== null && outcome.reason === 'invalid_client')
        await servers.forget({ platform: connector.id, server });
      throw errors.connect_failed({
        detail: `${provider.title} did not accept the login (${outcome.reason}).`,
        extra: { platform_code: outcome.reason },
      });
    }
    return provider.toCredential({ answer: outcome.answer, client, now: now(), fetch, server });
  }

  return {
    async begin({ customerId, platform, sessionToken }, choice = {}) {
      const destination = destinationOf(platform, choice.provider);
      const { provider } = destination;
      const server = serverOf(provider, choice.server);
      const client = await clientFor(destination, { customerId, server });
      const scopes = scopesToAsk(provider, await deps.switchedOn(customerId));
      const state = newToken('', randomBytes);
      const verifier = newToken('', randomBytes);
      const stateHash = hashToken(state);
      const createdAt = now();
      const journey = {
        ...{ customerId, stateHash, platform, provider: provider.id, server, createdAt },
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
        const { verifier, server } = journey;
        credential = await obtainCredential(destination, { customerId, code, verifier, server });
      } catch (cause) {
        throw asUnreachable(cause, destination.provider.title);
      }
      const { connector, provider } = destination;
      if (!Check(provider.credentialSchema ?? connector.auth.credentialSchema, credential)) {
        throw errors.connect_failed({ detail: `${destination.provider.title} sent an answer of no use.` });
      }
      const { standing } = traveller;
      return credentials.put({ customerId, platform, credential, verify: true, standing });
    },

    jobs: {
      handlers: [
        {
          name: 'connect.purge',
          async handle() {
            await deleteExpiredJourneys(database, now());
            await servers.purge();
          },
        },
      ],
      cron: [{ name: 'connect.purge', schedule: everyMinutes(PURGE_MINUTES) }],
    },
  };
}

/** The origin of the server that the customer named; throws 400 for none and for one that is no address. */
function serverOf({ perServer, title }: OAuthProvider, text: string | undefined): string | null {
  if (perServer === undefined) return null;
  const address = text === undefined || text.includes('://') ? text : `https://${text}`;
  const isAddress = address !== undefined && SERVER.test(address) && URL.canParse(address);
  if (isAddress) return new URL(address).origin;
  const detail = `Must be the address of the ${title} server that has the account, for example https://mastodon.social.`;
  const code = text === undefined ? 'required' : 'invalid_format';
  throw errors.invalid_query({ errors: [{ parameter: perServer.parameter, code, detail }] });
}

const SERVER = /^https?:\/\/[^\s/?#@\\]{1,253}\/?$/;

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
