import { hashToken } from '@libs/seal';

/** By which a password is known for the one that was proved, without another copy of its hash. */
export function proofOf(passwordHash: string): Buffer {
  return hashToken(passwordHash);
}
