import { strict as assert } from 'node:assert';
import { Transform, type TransformCallback } from 'node:stream';
import {
  IMAP_LIMITS,
  ImapLimitExceeded,
  ImapLimiter,
  type ImapLimits,
  type SkippableAnswer,
} from '@libs/egress';
import type { ImapFlow, ImapFlowError } from 'imapflow';
import { ConnectorError } from '../../connector.ts';
import { withLiterals } from './literals.ts';

/** How long one command may take, however busy the server looks meanwhile. */
const COMMAND_MS_MAX = 30_000;
/** A command that has taken longer than this to parse goes on at half the speed: the other half is for others. */
const EAGER_MS_MAX = 100;
const PAUSE_MS = 5;

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
  /** How the server refused the last command, if it did: of many commands the library tells that alone. */
  readonly refusal: ImapFlowError | null;
  /** How many commands that change something were given to the connection so far. */
  readonly changesAsked: number;
}

/** Commands after which everything is as it was; any other counts as a change. */
const READING_COMMANDS: ReadonlySet<string> = new Set([
  ...['CAPABILITY', 'NOOP', 'ID', 'ENABLE', 'NAMESPACE', 'STARTTLS', 'LOGIN', 'AUTHENTICATE', 'LOGOUT'],
  ...['LIST', 'XLIST', 'LSUB', 'STATUS', 'SELECT', 'EXAMINE', 'SEARCH', 'UID SEARCH', 'FETCH', 'UID FETCH'],
]);

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
  let refusal: ImapFlowError | null = null;
  let isUpgrading = false;
  let changesAsked = 0;
  const spent = { ms: 0, sincePauseMs: 0 };

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
    return passOn(answers, { parse, encoding, done, spent });
  };

  const exec = insides.exec.bind(client);
  insides.exec = (command, attributes, execOptions) => {
    limiter.beginCommand(command, { wantsAll: asksForAllFolders(attributes) });
    spent.ms = 0;
    refusal = null;
    if (!READING_COMMANDS.has(command.toUpperCase())) changesAsked += 1;
    isUpgrading = command.toUpperCase() === 'STARTTLS';
    const timer = setTimeout(
      () =>
        fail(
          new ConnectorError(
            'platform_unavailable',
            `the IMAP server took more than ${commandMsMax / 1_000} s to answer`,
            { outcomeOpen: true },
          ),
        ),
      commandMsMax,
    );
    timer.unref();
    return exec(command, withLiterals(client, attributes), execOptions)
      .catch((error: ImapFlowError) => {
        refusal = error.responseStatus === undefined ? null : error;
        throw error;
      })
      .finally(() => {
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
    get refusal() {
      return refusal;
    },
    get changesAsked() {
      return changesAsked;
    },
  };
  guards.set(client, guard);
  return guard;
}

export function tooLarge(detail: string): ConnectorError {
  return new ConnectorError('platform_error', `the IMAP server sent ${detail}`, {
    platformCode: 'ANSWER_TOO_LARGE',
    // The command had left; whether it was done is not known.
    outcomeOpen: true,
  });
}

/** The library lists one folder by its name where it wants to know how it is spelled. */
function asksForAllFolders(attributes: unknown): boolean {
  return Array.isArray(attributes) && attributes[1] === '*';
}

function hasMoreAfterTagged(answers: readonly Buffer[]): boolean {
  const tagged = answers.findIndex((answer) => !'*+'.includes(String.fromCharCode(answer[0] ?? 0)));
  return tagged >= 0 && tagged < answers.length - 1;
}

interface Passing {
  parse: ClientInsides['streamer']['_transform'];
  encoding: BufferEncoding;
  done: TransformCallback;
  /** What parsing has taken since the command began, and since it last paused. */
  spent: { ms: number; sincePauseMs: number };
}

/** One answer at a time: between two of them, everything else that this process does gets its turn. */
function passOn(answers: readonly Buffer[], passing: Passing, index = 0): void {
  const answer = answers[index];
  if (answer === undefined) {
    passing.done();
    return;
  }
  const startedMs = performance.now();
  passing.parse(answer, passing.encoding, (error) => {
    if (error) return passing.done(error);
    const { spent } = passing;
    const tookMs = performance.now() - startedMs;
    spent.ms += tookMs;
    spent.sincePauseMs += tookMs;
    const next = () => passOn(answers, passing, index + 1);
    if (spent.ms < EAGER_MS_MAX || spent.sincePauseMs < PAUSE_MS) return setImmediate(next);
    spent.sincePauseMs = 0;
    return setTimeout(next, PAUSE_MS);
  });
}
