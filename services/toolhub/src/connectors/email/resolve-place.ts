import type { GuardedPlace } from '@libs/egress';
import { type AddressGuard, ConnectorError, withNothingDone } from '../connector.ts';
import type { MailServer } from './credential.ts';

/** The checked address of a mail server; where there is none, nobody was asked for anything. */
export async function resolvePlace(guard: AddressGuard, { host, port }: MailServer): Promise<GuardedPlace> {
  try {
    return await guard.resolve({ host, port });
  } catch (error) {
    throw error instanceof ConnectorError ? withNothingDone(error) : error;
  }
}
