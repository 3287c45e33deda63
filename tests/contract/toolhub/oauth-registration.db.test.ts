// How clients find the authorization server and make themselves known to it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, call } from '../../../services/toolhub/test/accounts.ts';
import { obtainCode, postForm, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { type OAuthRig, startOAuthRig } from './oauth-rig.ts';

let rig: OAuthRig;
let url: string;
let account: Account;

beforeAll(async () => {
  rig = await startOAuthRig();
  ({ url, account } = rig);
});

afterAll(() => rig.stop());

describe('discovery', () => {
  test('[TH-4.1] metadata names the endpoints, PKCE, the issuer in responses and metadata documents', async () => {
    for (const path of ['oauth-authorization-server', 'openid-configuration']) {
      const { status, body } = await call(`${url}/.well-known/${path}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        issuer: url,
        authorization_endpoint: `${url}/oauth/authorize`,
        token_endpoint: `${url}/oauth/token`,
        registration_endpoint: `${url}/oauth/register`,
        revocation_endpoint: `${url}/oauth/revoke`,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        scopes_supported: ['tools:read', 'tools:write', 'account:read', 'account:write', 'offline_access'],
      });
    }
  });

  test('[TH-4] the addresses are the public ones, whatever Host a caller sends', async () => {
    const answer = await fetch(
      `${url.replace('localhost', '127.0.0.1')}/.well-known/oauth-authorization-server`,
      {
        headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      },
    );
    expect(JSON.stringify(await answer.json())).not.toMatch(/evil\.example|127\.0\.0\.1/);
  });

  test('[TH-4.1] protected resource metadata stands at both addresses', async () => {
    for (const path of ['', '/mcp']) {
      const { status, body, headers } = await call(`${url}/.well-known/oauth-protected-resource${path}`);
      expect(status).toBe(200);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(body).toMatchObject({ resource: `${url}/mcp`, authorization_servers: [url] });
    }
  });

  test.each(['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server'])(
    '[TH-4.1] a page of any origin may name its protocol version at %s',
    async (name) => {
      const headers = {
        origin: 'https://client.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'mcp-protocol-version',
      };
      const answer = await fetch(`${url}/.well-known/${name}`, { method: 'OPTIONS', headers });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/client\.example)$/);
      expect(answer.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
    },
  );
});

describe('registration', () => {
  test('[TH-4.2] RFC 7591: answers 201 with the metadata; unknown scopes are left out, and what renews is added', async () => {
    const { status, body } = await call(`${url}/oauth/register`, {
      body: {
        client_name: 'Scoped',
        redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback', 'https://app.example/cb?x=1'],
        token_endpoint_auth_method: 'none',
        scope: 'openid profile tools:read',
      },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      client_name: 'Scoped',
      scope: 'tools:read offline_access',
      token_endpoint_auth_method: 'none',
    });
    expect(body.client_id).toEqual(expect.any(String));
    expect(body).not.toHaveProperty('client_secret');
  });

  test('[TH-4.2] what is said for other servers is replaced by what is offered here, and what is empty counts as not said', async () => {
    const { status, body } = await call(`${url}/oauth/register`, {
      body: {
        redirect_uris: ['https://app.example/cb'],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code', 'id_token'],
        id_token_signed_response_alg: 'RS256',
        subject_type: 'pairwise',
        sector_identifier_uri: 'https://app.example/addresses.json',
        ...{ token_endpoint_auth_method: null, client_name: '', logo_uri: '', client_uri: null, scope: '' },
        ...{ contacts: null, application_type: '' },
      },
    });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    });
    for (const name of [
      'sector_identifier_uri',
      'client_name',
      'logo_uri',
      'client_uri',
      'scope',
      'contacts',
    ])
      expect(body).not.toHaveProperty(name);
    const client = { client_id: String(body.client_id), redirect_uri: 'https://app.example/cb' };
    expect((await obtainCode(url, account, client)).code).not.toBe('');
    for (const metadata of [
      { grant_types: ['client_credentials'] },
      { response_types: ['token'] },
      { token_endpoint_auth_method: 'private_key_jwt' },
    ]) {
      const refused = await call(`${url}/oauth/register`, {
        body: { redirect_uris: ['https://app.example/cb'], ...metadata },
      });
      expect([refused.status, refused.body.error]).toEqual([400, 'invalid_client_metadata']);
    }
  });

  test.each(['register', 'token', 'revoke'])('[TH-2.3] a large body at /oauth/%s is 413', async (name) => {
    const { status, body } = await call(`${url}/oauth/${name}`, {
      body: { client_name: 'x'.repeat(60_000) },
    });
    expect([status, body.error]).toEqual([413, 'invalid_request']);
  });

  test('[TH-4.2] a client has at most 20 addresses and a name of 200 characters', async () => {
    const register = async (addresses: number, name: number) => {
      const body = {
        redirect_uris: Array.from({ length: addresses }, (_, nth) => `https://app.example/${nth}`),
        ...{ client_name: 'n'.repeat(name), token_endpoint_auth_method: 'none' },
      };
      return (await call(`${url}/oauth/register`, { body })).status;
    };
    expect([await register(20, 200), await register(21, 200), await register(20, 201)]).toEqual([
      201, 400, 400,
    ]);
  });

  test('[TH-4.2] a client says no more of itself than a few KiB, whatever it says', async () => {
    const before = await rig.database.database.query('select id from oauth_clients');
    const long = (characters: number) => `https://app.example/${'x'.repeat(characters)}`;
    for (const metadata of [
      { contacts: Array.from({ length: 300 }, (_, nth) => `somebody-${nth}@example.com`) },
      { logo_uri: long(50_000) },
      { policy_uri: long(3_000), tos_uri: long(3_000) },
      { redirect_uris: Array.from({ length: 20 }, (_, nth) => long(300 + nth)) },
      { jwks: { keys: [{ kty: 'RSA', e: 'AQAB', n: 'x'.repeat(6_000) }] } },
    ]) {
      const { status, body } = await call(`${url}/oauth/register`, {
        body: { redirect_uris: [long(0)], token_endpoint_auth_method: 'none', ...metadata },
      });
      expect([Object.keys(metadata), status, body.error]).toEqual([
        ...[Object.keys(metadata), 400, 'invalid_client_metadata'],
      ]);
    }
    expect((await rig.database.database.query('select id from oauth_clients')).rowCount).toBe(
      before.rowCount,
    );
    await registerClient(url, { logo_uri: long(2_000), contacts: ['ada@example.com'] });
  });

  test.each([
    'http://example.com/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://user@example.com/cb',
    'https://example.com/cb#x',
    'https://example.com/c b',
    '/relative',
    'http://127.0.0.1.example.com/cb',
    'http://localhost.example.com/cb',
  ])('[TH-4] refuses the redirect address %s', async (redirect) => {
    const { status, body } = await call(`${url}/oauth/register`, {
      body: { redirect_uris: [redirect], token_endpoint_auth_method: 'none' },
    });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_redirect_uri' });
  });

  test('[TH-2.3] malformed registrations get the error body of OAuth', async () => {
    for (const payload of ['{"redirect_uris":', '[]', '"x"', '{"redirect_uris":"x"}', '{}']) {
      const answer = await fetch(`${url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: payload,
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toHaveProperty('error');
    }
  });

  test('[TH-4] a confidential client proves itself by its secret, which is stored hashed', async () => {
    const confidential = await registerClient(url, { token_endpoint_auth_method: 'client_secret_basic' });
    const secret = confidential.client_secret ?? '';
    expect(secret.length).toBeGreaterThan(40);
    const { code, pkce } = await obtainCode(url, account, confidential);
    const form = {
      grant_type: 'authorization_code',
      redirect_uri: confidential.redirect_uri,
      code,
      code_verifier: pkce.verifier,
    };
    const basic = (password: string) => ({
      authorization: `Basic ${Buffer.from(`${confidential.client_id}:${password}`).toString('base64')}`,
    });
    const wrong = await postForm<{ error: string }>(`${url}/oauth/token`, form, basic(`${secret}x`));
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
    const none = await postForm<{ error: string }>(`${url}/oauth/token`, {
      ...form,
      client_id: confidential.client_id,
    });
    expect([none.status, none.body.error]).toEqual([401, 'invalid_client']);
    expect((await postForm(`${url}/oauth/token`, form, basic(secret))).status).toBe(200);
    const { rows } = await rig.database.database.query('select metadata::text from oauth_clients');
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});
