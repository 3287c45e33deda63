import { expect, test } from 'vitest';
import type { OAuthProvider } from '../connectors/connector.ts';
import { exchangeCode } from './exchange.ts';

const provider: OAuthProvider = {
  ...{ id: 'vendor', title: 'Vendor', scopes: [], clientAuthentication: 'body' },
  ...{
    authorizeUrl: 'https://vendor.invalid/a',
    tokenUrl: 'https://vendor.invalid/t',
    toCredential: () => ({}),
  },
};

async function formFor(pkce?: false): Promise<string[]> {
  let body = '';
  await exchangeCode({
    provider: pkce === undefined ? provider : { ...provider, pkce },
    client: { clientId: 'c', clientSecret: 's', authorizeUrl: null, tokenUrl: null },
    ...{ code: 'x', verifier: 'v', redirectUri: 'https://hub.example.com/back' },
    fetch: async (_url, init) => {
      body = String(init?.body);
      return Response.json({ access_token: 'a' });
    },
  });
  return [...new URLSearchParams(body).keys()].sort();
}

test('the verifier goes to every vendor but to those that refuse whoever sends one', async () => {
  const always = ['client_id', 'client_secret', 'code', 'grant_type', 'redirect_uri'];
  expect(await formFor()).toEqual([...always, 'code_verifier'].sort());
  expect(await formFor(false)).toEqual(always);
});
