import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { client } from '../api/client.ts';
import type { Session } from '../api/types.ts';

/** Asks the device for a passkey, by options that came with a refusal or are fetched. */
export async function logInByPasskey(given?: PublicKeyCredentialRequestOptionsJSON): Promise<Session> {
  const optionsJSON =
    given ?? (await client.post<PublicKeyCredentialRequestOptionsJSON>('/v1/session/passkey/options'));
  const response = await startAuthentication({ optionsJSON });
  return client.post<Session>('/v1/session/passkey', { response });
}

export async function addPasskey(name: string): Promise<void> {
  const optionsJSON = await client.post<PublicKeyCredentialCreationOptionsJSON>(
    '/v1/session/passkeys/options',
  );
  const response = await startRegistration({ optionsJSON });
  await client.post('/v1/session/passkeys', { name, response });
}
