/** The part of the library that this service uses; the package ships no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface AdapterPayload {
    [name: string]: unknown;
    jti?: string;
    accountId?: string;
    clientId?: string;
    grantId?: string;
    redirectUri?: string;
    scope?: string;
    aud?: string;
    exp?: number;
    consumed?: number | true;
  }

  export interface Adapter {
    upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void>;
    find(id: string): Promise<AdapterPayload | undefined>;
    findByUid(uid: string): Promise<AdapterPayload | undefined>;
    findByUserCode(code: string): Promise<AdapterPayload | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    readonly clientUri?: string;
    readonly clientSecret?: string;
    readonly scope?: string;
    readonly clientIdMetadataDocument?: true;
    readonly redirectUris: readonly string[];
    redirectUriAllowed(uri: string): boolean;
    responseModeAllowed(mode: string, responseType: string): boolean;
    compareClientSecret(secret: string): boolean;
    grantTypeAllowed(type: string): boolean;
  }

  /** Client metadata on its way through validation, with the names of RFC 7591. */
  export interface ClientSchema {
    client_id: string;
    client_name?: unknown;
    scope?: string;
    default_acr_values?: unknown;
    default_max_age?: unknown;
    require_auth_time?: unknown;
    id_token_signed_response_alg?: unknown;
    subject_type?: unknown;
    sector_identifier_uri?: unknown;
    grant_types?: string[];
    response_types?: string[];
    redirect_uris: string[];
    invalidate(message: string): never;
    redirectUris(uris?: string[], label?: string): void;
    scopes(): void;
    /** The first of all checks. */
    required(): void;
  }

  export interface ClientClass {
    readonly prototype: Client;
    readonly Schema: { readonly prototype: ClientSchema };
    find(id: string): Promise<Client | undefined>;
  }

  export interface Token {
    readonly jti: string;
    readonly clientId: string;
    readonly grantId: string;
    readonly accountId: string;
    readonly scopes: ReadonlySet<string>;
    generateTokenId(): string;
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export interface Interaction {
    readonly uid: string;
    readonly returnTo: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly prompt: { readonly name: string; readonly reasons: readonly string[] };
    readonly session?: { readonly accountId: string; readonly uid: string } | undefined;
    destroy(): Promise<void>;
  }

  export interface Session {
    accountId?: string;
    uid: string;
    loginTs?: number;
  }

  export interface SessionClass {
    new (payload?: Record<string, unknown>): Session;
    get(ctx: Context): Promise<Session>;
  }

  export interface Context {
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    status: number;
    type: string;
    body: unknown;
    set(name: string, value: string): void;
    remove(name: string): void;
    readonly response: { get(name: string): string };
    readonly oidc?: {
      readonly route: string;
      readonly client?: Client;
      readonly params?: { resource?: string | string[] | undefined; client_id?: unknown };
      readonly result?: { readonly consent?: { readonly grantId?: string } };
      readonly provider: Provider;
      readonly entities: {
        readonly Client?: Client;
        readonly AuthorizationCode?: Token;
        readonly RotatedRefreshToken?: Token;
        readonly AccessToken?: Token;
        readonly RefreshToken?: Token;
      };
      entity(name: string, value: unknown): void;
    };
  }

  export interface ResourceServer {
    scope: string;
    audience: string;
    accessTokenFormat: 'opaque';
    accessTokenTTL: number;
  }

  export interface ErrorBody {
    error: string;
    error_description?: string;
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    static readonly ctx: Context | undefined;
    readonly issuer: string;
    proxy: boolean;
    readonly Client: ClientClass;
    readonly AccessToken: { readonly prototype: Token };
    readonly RefreshToken: { readonly prototype: Token };
    readonly Grant: {
      new (payload: { accountId: string; clientId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
    readonly Session: SessionClass;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): this;
    on(event: 'server_error', listener: (ctx: Context, error: Error) => void): this;
    on(event: 'authorization.error', listener: (ctx: Context, error: Error & ErrorBody) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionResult(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
    ): Promise<string>;
  }

  export const errors: {
    readonly InvalidClientMetadata: new (description: string) => Error;
    readonly InvalidGrant: new (detail: string) => Error;
    readonly InvalidRequest: new (description: string) => Error;
    readonly InvalidTarget: new (description?: string) => Error;
    readonly SessionNotFound: new (description: string) => Error;
    readonly OIDCProviderError: new (...args: never[]) => Error & ErrorBody & { readonly statusCode: number };
  };
}
