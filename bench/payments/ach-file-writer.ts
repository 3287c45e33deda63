// A process of its own that writes one file, so that the memory is that of the writing and nothing else.

import { writeNacha } from '../../services/payments/src/rails/ach/nacha/write.ts';
import { planFiles } from '../../services/payments/src/rails/ach/outgoing/files.ts';
import type { Leg } from '../../services/payments/src/rails/ach/outgoing/legs.ts';
import { SANDBOX_ORIGINATOR } from '../../services/payments/src/rails/ach/outgoing/originator.ts';

const entries = Number(process.argv[2]);

const legs = Array.from(
  { length: entries },
  (_, index): Leg => ({
    id: `pay_${String(index).padStart(26, '0')}`,
    direction: index % 2 === 0 ? 'debit' : 'credit',
    amountCents: 1 + (index % 9_999),
    routing: '231380104',
    account: String(1_000_000_000 + index),
    accountType: 'checking',
    holderName: `Receiver ${index}`,
    holderType: index % 5 === 0 ? 'business' : 'individual',
    effectiveDate: '2026-11-17',
  }),
);
const plan = {
  legs,
  originator: SANDBOX_ORIGINATOR,
  createdAt: new Date('2026-11-16T15:00:00Z'),
  firstTraceSequence: 1,
  fileOfDay: 0,
};

const peakMb = () => process.resourceUsage().maxRSS / 1_024;
const beforeMb = peakMb();
const startedAt = performance.now();
const [file] = planFiles(plan).files;
const text = file ? writeNacha(file) : '';
const seconds = (performance.now() - startedAt) / 1_000;
const lines = text.split('\n').filter((line) => line.startsWith('6')).length;
process.stdout.write(JSON.stringify({ seconds, addedMb: peakMb() - beforeMb, lines }));
