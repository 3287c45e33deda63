import { readFile } from 'node:fs/promises';
import { StartError } from '@libs/runtime';
import type { Originator } from './ach/outgoing/files.ts';
import { originatorProblems, SANDBOX_ORIGINATOR } from './ach/outgoing/originator.ts';
import { isRoutingNumber } from './routing-number.ts';
import { type RtpIdentity, SANDBOX_IDENTITY } from './rtp/lines/connection.ts';

/** How our sponsor bank and the networks know us. Null for a network that is not used live. */
export interface BankIdentity {
  ach: Originator | null;
  rtp: RtpIdentity | null;
  /** Banks whose accounts our sponsor may debit at once: live accounts there can send by RTP. */
  sponsorRoutingNumbers: readonly string[];
}

export interface LiveRails {
  ach: boolean;
  rtp: boolean;
}

type Section = Readonly<Record<string, unknown>>;

const SPONSORS_MAX = 1_000;
/** A participant is a bank's routing number and two characters that the network gives. */
const PARTICIPANT = /^\d{9}[A-Z0-9]{2}$/;
const ACCOUNT_NUMBER = /^[A-Za-z0-9-]{1,34}$/;
const NAME_LENGTH_MAX = 140;

/**
 * Reads the operator's file, `{"ach": {…}, "rtp": {…}, "sponsorRoutingNumbers": […]}`. For every live rail all of its
 * fields have to be there and right: files under another's name are sent back at best, and no field of the sandbox's
 * identity ever stands in for one that is missing.
 */
export async function readBankIdentity(path: string | undefined, live: LiveRails): Promise<BankIdentity> {
  if (path === undefined && !live.ach && !live.rtp)
    return { ach: null, rtp: null, sponsorRoutingNumbers: [] };
  const given = await readSections(path);
  const problems = identityProblems(given, live);
  if (problems.length > 0) throw new StartError(`PAYMENTS_BANK_IDENTITY ${path}: ${problems.join('; ')}`);
  return {
    ach: live.ach ? (given.ach as unknown as Originator) : null,
    rtp: live.rtp ? (given.rtp as unknown as RtpIdentity) : null,
    sponsorRoutingNumbers: (given.sponsorRoutingNumbers ?? []) as string[],
  };
}

interface Sections {
  ach: Section;
  rtp: Section;
  sponsorRoutingNumbers: unknown;
}

async function readSections(path: string | undefined): Promise<Sections> {
  if (path === undefined)
    throw new StartError('PAYMENTS_BANK_IDENTITY must name a JSON file when a live rail is set');
  let given: unknown;
  try {
    given = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new StartError(`PAYMENTS_BANK_IDENTITY ${path} cannot be read as JSON`, { cause });
  }
  const { ach, rtp, sponsorRoutingNumbers } = sectionOf(given);
  return { ach: sectionOf(ach), rtp: sectionOf(rtp), sponsorRoutingNumbers };
}

function sectionOf(value: unknown): Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Section) : {};
}

/** Every field that is missing or wrong, by its name in the file. */
function identityProblems({ ach, rtp, sponsorRoutingNumbers }: Sections, live: LiveRails): string[] {
  return [
    ...(live.ach ? sectionProblems('ach', ach, { sandbox: SANDBOX_ORIGINATOR, check: achProblems }) : []),
    ...(live.rtp ? sectionProblems('rtp', rtp, { sandbox: SANDBOX_IDENTITY, check: rtpProblems }) : []),
    ...sponsorProblems(sponsorRoutingNumbers),
  ];
}

function sectionProblems(
  name: string,
  section: Section,
  { sandbox, check }: { sandbox: object; check: (section: Section) => string[] },
): string[] {
  const fields = Object.keys(sandbox);
  const absent = fields.filter((field) => typeof section[field] !== 'string' || section[field] === '');
  const missing = absent.map((field) => `${name}.${field} is missing`);
  const unknown = Object.keys(section)
    .filter((field) => !fields.includes(field))
    .map((field) => `${name}.${field} is not a field`);
  if (missing.length > 0) return [...missing, ...unknown];
  const isSandbox = fields.every((field) => section[field] === (sandbox as Section)[field]);
  if (isSandbox) return [`${name} is the sandbox's identity`];
  return [...check(section).map((problem) => `${name}.${problem}`), ...unknown];
}

function achProblems(section: Section): string[] {
  return originatorProblems(section as unknown as Originator);
}

function rtpProblems(section: Section): string[] {
  const { participant, network, routingNumber, accountNumber, accountName } =
    section as unknown as RtpIdentity;
  const problems: string[] = [];
  if (!PARTICIPANT.test(participant) || !isRoutingNumber(participant.slice(0, 9)))
    problems.push('participant must be a routing number and two characters');
  if (!PARTICIPANT.test(network)) problems.push('network must be nine digits and two characters');
  if (!isRoutingNumber(routingNumber)) problems.push('routingNumber must be a routing number');
  if (!ACCOUNT_NUMBER.test(accountNumber)) problems.push('accountNumber must have 1 to 34 letters or digits');
  if (accountName.trim() === '' || accountName.length > NAME_LENGTH_MAX)
    problems.push(`accountName must have 1 to ${NAME_LENGTH_MAX} characters`);
  return problems;
}

function sponsorProblems(given: unknown): string[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > SPONSORS_MAX)
    return [`sponsorRoutingNumbers must be a list of at most ${SPONSORS_MAX} routing numbers`];
  return given.flatMap((number, index) =>
    typeof number === 'string' && isRoutingNumber(number)
      ? []
      : [`sponsorRoutingNumbers[${index}] must be a routing number`],
  );
}
