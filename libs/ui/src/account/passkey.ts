import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { DeviceRefused } from '../api/problem.ts';
import { texts } from '../texts.ts';
import type { Account } from './account.ts';

type Calls = Pick<Account, 'client' | 'paths'>;

/** Asks the device for a passkey, by options that came with a refusal of the password alone, or that are fetched. */
export async function logInByPasskey<Person>({ client, paths }: Calls, given?: unknown): Promise<Person> {
  const optionsJSON = (given ??
    (await client.post(`${paths.own}/passkey/options`))) as PublicKeyCredentialRequestOptionsJSON;
  const response = await ask(() => startAuthentication({ optionsJSON }));
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
  const response = await ask(() => startRegistration({ optionsJSON }));
  await client.post(`${paths.own}/passkeys`, { name, response });
}

/** What devices and browsers refuse by is the name of their error; none of it is a fault of the page. */
async function ask<Answer>(device: () => Promise<Answer>): Promise<Answer> {
  if (!browserSupportsWebAuthn()) throw new DeviceRefused(texts.passkeyUnknown);
  try {
    return await device();
  } catch (error) {
    const { name } = error as Error;
    if (name === 'InvalidStateError') throw new DeviceRefused(texts.passkeyThere, error);
    if (name === 'NotAllowedError' || name === 'AbortError')
      throw new DeviceRefused(texts.passkeyCanceled, error);
    throw error;
  }
}
