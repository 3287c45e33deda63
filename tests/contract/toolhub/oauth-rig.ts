import { type Account, signUp } from '../../../services/toolhub/test/accounts.ts';
import { type OAuthClient, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

/** What tests of the OAuth server begin with: who decides, and a client that asks. */
export interface OAuthRig extends LoneInstance {
  account: Account;
  client: OAuthClient;
}

export async function startOAuthRig(): Promise<OAuthRig> {
  const instance = await startAlone();
  return { ...instance, account: await signUp(instance.url), client: await registerClient(instance.url) };
}
