import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import type { Account } from './account.ts';

type Calls = Pick<Account, 'client' | 'paths'>;

/** Asks the device for a passkey, by options that came with a refusal of the password alone, or that are fetched. */
export async function logInByPasskey<Person>({ client, paths }: Calls, given?: unknown): Promise<Person> {
  const optionsJSON = (given ??
    (await client.post(`${paths.own}/passkey/options`))) as PublicKeyCredentialRequestOptionsJSON;
  const response = await startAuthentication({ optionsJSON });
  return client.post<Person>(`${paths.own}/passkey`, { response });
}

export async function addPasskey(
  { client, paths }: Calls,
  { name, password }: { name: string; password: string },
): Promise<void> {
  const optionsJSON = await client.post<PublicKeyCredentialCreationOptionsJSON>(
    `${paths.own}/passkeys/options`,
    { password },
  );
  const response = await startRegistration({ optionsJSON });
  await client.post(`${paths.own}/passkeys`, { name, response });
}
