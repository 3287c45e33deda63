import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import type { Client } from '../api/client.ts';

/** Where a product's sessions are: `/v1/session`. */
export interface PasskeyCalls {
  client: Client;
  sessionPath: string;
}

/** Asks the device for a passkey, by options that came with a refusal of the password alone, or that are fetched. */
export async function logInByPasskey<Session>(
  { client, sessionPath }: PasskeyCalls,
  given?: unknown,
): Promise<Session> {
  const optionsJSON = (given ??
    (await client.post(`${sessionPath}/passkey/options`))) as PublicKeyCredentialRequestOptionsJSON;
  const response = await startAuthentication({ optionsJSON });
  return client.post<Session>(`${sessionPath}/passkey`, { response });
}

export async function addPasskey({ client, sessionPath }: PasskeyCalls, name: string): Promise<void> {
  const optionsJSON = await client.post<PublicKeyCredentialCreationOptionsJSON>(
    `${sessionPath}/passkeys/options`,
  );
  const response = await startRegistration({ optionsJSON });
  await client.post(`${sessionPath}/passkeys`, { name, response });
}
