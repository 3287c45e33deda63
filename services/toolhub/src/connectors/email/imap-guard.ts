import { strict as assert } from 'node:assert';
import { Transform, type TransformCallback } from 'node:stream';
import {
  IMAP_LIMITS,
  ImapLimitExceeded,
  ImapLimiter,
  type ImapLimits,
  type SkippableAnswer,
} from '@libs/egress';
import type { ImapFlow } from 'imapflow';
import { ConnectorError } from '../connector.ts';

/** How long one command may take, however busy the server looks meanwhile. */
const COMMAND_MS_MAX = 30_000;
/** Bytes that go to the parser before others get their turn. */
const TURN_BYTES = 16 * 1024;
const TURN_ANSWERS = 20;

/** The insides of the client that the guard stands between; a test fails when a new version lacks them. */
interface ClientInsides {
  streamer: Transform & {
    _transform(chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void;
  };
  exec(command: string, attributes: unknown, options: unknown): Promise<unknown>;
}

export interface ImapGuard {
  /** Why the connection was ended, if it was. */
  readonly failure: ConnectorError | null;
  /** Answers to the last command that were left out. */
  readonly skipped: readonly { kind: SkippableAnswer; reason: string }[];
}

const guards = new WeakMap<ImapFlow, ImapGuard>();

export function guardOf(client: ImapFlow): ImapGuard | undefined {
  return guards.get(client);
}

export interface ImapGuardOptions {
  limits?: ImapLimits;
  commandMsMax?: number;
}

/**
 * Puts the limiter between the socket and the library's parser: behind TLS, STARTTLS included, since both feed the same
 * stream. A client that is not guarded must not be connected.
 */
export function guardClient(client: ImapFlow, options: ImapGuardOptions = {}): ImapGuard {
  const insides = client as unknown as ClientInsides;
  const { streamer } = insides;
  assert(streamer instanceof Transform, 'the IMAP library has no stream to guard');
  assert(typeof insides.exec === 'function', 'the IMAP library has no commands to guard');
  const limiter = new ImapLimiter(options.limits ?? IMAP_LIMITS);
  const commandMsMax = options.commandMsMax ?? COMMAND_MS_MAX;
  let failure: ConnectorError | null = null;
  let isUpgrading = false;

  function fail(error: ConnectorError): void {
    failure ??= error;
    streamer.destroy(error);
  }

  const parse = streamer._transform.bind(streamer);
  streamer._transform = (chunk, encoding, done) => {
    let answers: Buffer[];
    try {
      answers = limiter.push(chunk);
    } catch (error) {
      if (!(error instanceof ImapLimitExceeded)) throw error;
      fail(tooLarge(error.message));
      return done();
    }
    // What comes with the answer to STARTTLS was not encrypted; read later, it would pass for what is (RFC 9051 6.2.1).
    if (isUpgrading && (limiter.isAmidAnswer || hasMoreAfterTagged(answers))) {
      fail(
        new ConnectorError('platform_error', 'the IMAP server sent data after STARTTLS', {
          platformCode: 'STARTTLS',
        }),
      );
      return done();
    }
    return passOn(answers, { parse, encoding, done });
  };

  const exec = insides.exec.bind(client);
  insides.exec = (command, attributes, execOptions) => {
    limiter.beginCommand();
    isUpgrading = command.toUpperCase() === 'STARTTLS';
    const timer = setTimeout(
      () =>
        fail(
          new ConnectorError(
            'platform_unavailable',
            `the IMAP server took more than ${commandMsMax / 1_000} s to answer`,
          ),
        ),
      commandMsMax,
    );
    timer.unref();
    return exec(command, attributes, execOptions).finally(() => {
      clearTimeout(timer);
      isUpgrading = false;
    });
  };

  const guard: ImapGuard = {
    get failure() {
      return failure;
    },
    get skipped() {
      return limiter.skipped;
    },
  };
  guards.set(client, guard);
  return guard;
}

export function tooLarge(detail: string): ConnectorError {
  return new ConnectorError('platform_error', `the IMAP server sent ${detail}`, {
    platformCode: 'ANSWER_TOO_LARGE',
  });
}

function hasMoreAfterTagged(answers: readonly Buffer[]): boolean {
  const tagged = answers.findIndex((answer) => !'*+'.includes(String.fromCharCode(answer[0] ?? 0)));
  return tagged >= 0 && tagged < answers.length - 1;
}

interface Passing {
  parse: ClientInsides['streamer']['_transform'];
  encoding: BufferEncoding;
  done: TransformCallback;
}

/** A little at a time: between two turns, everything else that this process does gets its own. */
function passOn(answers: readonly Buffer[], { parse, encoding, done }: Passing): void {
  if (answers.length === 0) {
    done();
    return;
  }
  let count = 0;
  let bytes = 0;
  while (count < answers.length && count < TURN_ANSWERS && (count === 0 || bytes < TURN_BYTES)) {
    bytes += (answers[count] as Buffer).length;
    count += 1;
  }
  const turn = count === 1 ? (answers[0] as Buffer) : Buffer.concat(answers.slice(0, count));
  const rest = answers.slice(count);
  parse(turn, encoding, (error) => {
    if (error || rest.length === 0) return done(error);
    setImmediate(() => passOn(rest, { parse, encoding, done }));
  });
}
