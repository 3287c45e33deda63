import { rejectReason } from '../codes.ts';

/**
 * What a reject says about the rail as a whole. The network, or our own bank in it, being out takes it down at once.
 * A receiver's bank that is out says nothing by itself, but several in a row, with nothing accepted in between, do.
 */
const OUT: ReadonlySet<string> = new Set(['9909', '9948', '9934', '9946', '9956']);
const DOUBTFUL: ReadonlySet<string> = new Set(['9910', '9912', '9947', '9957']);

export type RailVerdict = 'works' | 'doubtful' | 'out';

export function railVerdict(rejectCode: string | null): RailVerdict {
  if (rejectCode === null) return 'works';
  const { code } = rejectReason(rejectCode);
  if (OUT.has(code)) return 'out';
  return DOUBTFUL.has(code) ? 'doubtful' : 'works';
}
