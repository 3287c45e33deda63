import { toast } from '@libs/ui';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';
import { CREDENTIALS_PATH, HEALTH_PATH } from './platforms.ts';

/** Tries the credential at the platform and stores it; a wrong one is told at its field. */
export async function storeCredential(platform: string, credential: unknown): Promise<void> {
  await client.put(`${CREDENTIALS_PATH}/${platform}`, credential);
  await refresh(CREDENTIALS_PATH, HEALTH_PATH, '/api/tools');
  toast.done(texts.connections.stored);
}
