import { readFile } from 'node:fs/promises';
import { StartError } from '@libs/runtime';
import type { Originator } from './ach/files.ts';
import { originatorProblems, SANDBOX_ORIGINATOR } from './ach/originator.ts';
import { type RtpIdentity, SANDBOX_IDENTITY } from './rtp/connection.ts';

/** How our sponsor bank and the networks know us. */
export interface BankIdentity {
  ach: Originator;
  rtp: RtpIdentity;
}

/**
 * Reads the operator's file, `{"ach": {…}, "rtp": {…}}`. Without one the sandbox's identity stands in, for trials
 * against test systems: production refuses to start live rails without the file.
 */
export async function readBankIdentity(path: string | undefined): Promise<BankIdentity> {
  if (path === undefined) return { ach: SANDBOX_ORIGINATOR, rtp: SANDBOX_IDENTITY };
  let given: Partial<BankIdentity>;
  try {
    given = JSON.parse(await readFile(path, 'utf8')) as Partial<BankIdentity>;
  } catch (cause) {
    throw new StartError(`PAYMENTS_BANK_IDENTITY ${path} cannot be read as JSON`, { cause });
  }
  const identity = {
    ach: { ...SANDBOX_ORIGINATOR, ...given.ach },
    rtp: { ...SANDBOX_IDENTITY, ...given.rtp },
  };
  const problems = originatorProblems(identity.ach);
  if (problems.length > 0)
    throw new StartError(`PAYMENTS_BANK_IDENTITY ${path}: ach.${problems.join('; ach.')}`);
  return identity;
}
