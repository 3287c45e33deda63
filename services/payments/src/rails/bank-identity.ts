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

interface Sections {
  ach: Section;
  rtp: Section;
  sponsorRoutingNumbers: unknown;
}

/** The identity in a file without problems. */
export function bankIdentityOf(given: unknown, live: LiveRails): BankIdentity {
  const { ach, rtp, sponsorRoutingNumbers } = sectionsOf(given);
  return {
    ach: live.ach ? (ach as unknown as Originator) : null,
    rtp: live.rtp ? (rtp as unknown as RtpIdentity) : null,
    sponsorRoutingNumbers: (sponsorRoutingNumbers ?? []) as string[],
  };
}

function sectionsOf(given: unknown): Sections {
  const { ach, rtp, sponsorRoutingNumbers } = sectionOf(given);
  return { ach: sectionOf(ach), rtp: sectionOf(rtp), sponsorRoutingNumbers };
}

function sectionOf(value: unknown): Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Section) : {};
}

/**
 * Every field that is missing or wrong in the operator's file, `{"ach": {…}, "rtp": {…}, "sponsorRoutingNumbers": […]}`.
 * For every live rail all of its fields have to be there and right: files under another's name are sent back at best,
 * and no field of the sandbox's identity ever stands in for one that is missing.
 */
export function bankIdentityProblems(given: unknown, live: LiveRails): string[] {
  const { ach, rtp, sponsorRoutingNumbers } = sectionsOf(given);
  return [
    ...unknownSections(given),
    ...(live.ach ? sectionProblems('ach', ach, { sandbox: SANDBOX_ORIGINATOR, check: achProblems }) : []),
    ...(live.rtp ? sectionProblems('rtp', rtp, { sandbox: SANDBOX_IDENTITY, check: rtpProblems }) : []),
    ...sponsorProblems(sponsorRoutingNumbers),
  ];
}

const SECTIONS: readonly string[] = ['ach', 'rtp', 'sponsorRoutingNumbers'] satisfies (keyof Sections)[];

/** A misspelled one would be as good as not there, and of the sponsor's banks nothing else would tell. */
function unknownSections(given: unknown): string[] {
  return Object.keys(sectionOf(given))
    .filter((name) => !SECTIONS.includes(name))
    .map((name) => `${name} is not a field`);
}

function sectionProblems(
  name: string,
  section: Section,
  { sandbox, check }: { sandbox: object; check: (section: Section) => string[] },
): string[] {
  const fields = Object.keys(sandbox);
  const absent = fields.filter((field) => typeof section[field] !== 'string' || section[field] === '');
  const unknown = Object.keys(section)
    .filter((field) => !fields.includes(field))
    .map((field) => `${name}.${field} is not a field`);
  const isSandbox = fields.every((field) => section[field] === (sandbox as Section)[field]);
  if (isSandbox) return [`${name} is the sandbox's identity`, ...unknown];
  const empty = Object.fromEntries(absent.map((field) => [field, '']));
  const wrong = check({ ...section, ...empty }).filter(
    (problem) => !absent.some((field) => problem.startsWith(`${field} `)),
  );
  const problems = [...absent.map((field) => `${field} is missing`), ...wrong];
  return [...problems.map((problem) => `${name}.${problem}`), ...unknown];
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
