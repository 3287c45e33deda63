import { readFileSync } from 'node:fs';
import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';

/** A bank that takes part in the networks. */
export interface Participant {
  routingNumber: string;
  name: string;
  /** Receives instant payments. */
  rtp: boolean;
  /** Our sponsor bank: it holds the accounts, or may debit them at once, so they can also send instant payments. */
  sponsor: boolean;
  /** Exists in the sandbox alone. */
  test: boolean;
}

export interface AccountRails {
  send: readonly RailId[];
  receive: readonly RailId[];
}

export interface Directory {
  /** Undefined for a bank that is not listed, and for one of the sandbox in live mode. */
  find(routingNumber: string, mode: Mode): Participant | undefined;
  railsOf(routingNumber: string, mode: Mode): AccountRails;
}

interface ParticipantEntry {
  routing_number: string;
  name: string;
  rtp: boolean;
  sponsor: boolean;
  test: boolean;
}

/** Banks come and go and the networks publish their lists, so this is data and not code. */
export function readParticipants(): Participant[] {
  const text = readFileSync(new URL('./participants.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as ParticipantEntry[]).map(({ routing_number: routingNumber, ...rest }) => ({
    routingNumber,
    ...rest,
  }));
}

/**
 * What an account can do follows from its bank. Every bank with a valid routing number takes ACH entries; instant
 * payments reach only banks that are listed, and leave only from accounts that our sponsor bank can debit at once.
 */
export function createDirectory(
  participants: readonly Participant[],
  sponsorRoutingNumbers: readonly string[] = [],
): Directory {
  const sponsors = new Set(sponsorRoutingNumbers);
  const byNumber = new Map(participants.map((participant) => [participant.routingNumber, participant]));

  function find(routingNumber: string, mode: Mode): Participant | undefined {
    const participant = byNumber.get(routingNumber);
    return participant?.test === true && mode === 'live' ? undefined : participant;
  }

  return {
    find,
    railsOf(routingNumber, mode) {
      const participant = find(routingNumber, mode);
      return {
        send:
          participant?.sponsor === true || (mode === 'live' && sponsors.has(routingNumber))
            ? ['rtp', 'ach']
            : ['ach'],
        receive: participant?.rtp === true ? ['rtp', 'ach'] : ['ach'],
      };
    },
  };
}
