import type { Sealer } from '@libs/seal';
import { hashArguments } from './arguments-hash.ts';

/** What is kept of a call's arguments, by which the same call is known when it comes again. */
export interface ArgumentsMark {
  readonly kept: Buffer;
  /**
   * All that stands for the same arguments: a mark under an older key, while keys rotate, and the plain hash that processes of
   * the version before keep; the last of those is gone two days after the last of them.
   */
  readonly known: readonly Buffer[];
}

export interface ArgumentsMarks {
  /** The place says what the mark is kept for and whose it is: equal arguments have another one in each. */
  of(args: Record<string, unknown>, place: readonly string[]): Promise<ArgumentsMark>;
}

/** Arguments can be short and easily guessed, so their mark is keyed: nobody with a copy of the table can try them all. */
export function createArgumentsMarks(sealer: Pick<Sealer, 'fingerprints'>): ArgumentsMarks {
  return {
    async of(args, place) {
      const plain = await hashArguments(args);
      const context = `arguments ${JSON.stringify(place)}`;
      const marks = sealer
        .fingerprints(plain.toString('base64url'), context)
        .map((mark) => Buffer.from(mark, 'base64url'));
      return { kept: marks[0] as Buffer, known: [...marks, plain] };
    },
  };
}

export function isMarkOf(mark: ArgumentsMark, kept: Buffer): boolean {
  return mark.known.some((known) => known.equals(kept));
}
