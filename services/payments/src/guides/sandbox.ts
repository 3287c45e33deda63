import { markdownTable } from '@libs/docs';
import type { PaymentsConfig } from '../config.ts';
import {
  NO_RTP_ID,
  TEST_PREFIX,
  TEST_ROUTING_NUMBER,
  TEST_ROUTING_NUMBER_WITHOUT_RTP,
  type TestBehaviour,
  testBehaviours,
} from '../payment-methods/test-accounts.ts';
import { FORCED_OUTCOMES, type ForcedOutcome } from '../rails/rail.ts';
import { asCode, inWords } from './figures.ts';

const behaviourMeanings: Readonly<
  Record<TestBehaviour, readonly [side: string, does: string, example: string]>
> = {
  rtp_reject: ['destination', 'RTP refuses the payment with this code.', 'ac04'],
  rtp_timeout: ['destination', 'RTP does not answer; asked after it, the network says that it was paid.', ''],
  rtp_timeout_reject: [
    'destination',
    'RTP does not answer; asked after it, the network says that it refused.',
    'ac04',
  ],
  ach_return: ['either', 'The entry comes back before it settles: the payment fails.', 'r01'],
  ach_return_once: ['source', 'The first debit comes back; presented again, it settles.', 'r01'],
  ach_late_return: [
    'either',
    'The entry comes back after completion: the payment becomes `returned`.',
    'r10',
  ],
  ach_noc: ['either', 'The payment settles, and the bank corrects the details of the account.', 'c01'],
};

const outcomeMeanings: Readonly<Record<ForcedOutcome, string>> = {
  settle: 'Completes it now. A `pending` one passes through `processing`.',
  reject: 'The network refuses it: `failed`. `code` is optional.',
  return: 'A bank sends it back, over ACH. `code` is needed, for example `R01`.',
  notify_of_change:
    'The bank corrects the account, over ACH. `code` is optional, and `C01` where you give none; the payment goes on. The same code a second time for the same account changes nothing.',
};

/** Without a second try there is nothing that could settle. */
const NOT_PRESENTED_AGAIN =
  'This server presents nothing again (`PAYMENTS_ACH_REPRESENT` is 0): here the payment fails.';

export function sandboxIncludes({ sandbox, rails }: PaymentsConfig): Record<string, string> {
  const rows = testBehaviours.map(({ kind, hasCode }) => {
    const [side, meaning, example] = behaviourMeanings[kind];
    const isInVain = kind === 'ach_return_once' && rails.ach.representments === 0;
    const does = isInVain ? `${meaning} ${NOT_PRESENTED_AGAIN}` : meaning;
    const id = `${TEST_PREFIX}${kind}`;
    return [asCode(hasCode ? `${id}_<code>` : id), hasCode ? asCode(`${id}_${example}`) : '–', side, does];
  });
  return {
    test_ids: markdownTable(
      ['Id', 'For example', 'Side', 'Does'],
      [
        [
          '`pm_…` (any other)',
          '`pm_alice`',
          'either',
          'An ordinary account: sends and receives on both rails, always settles.',
        ],
        [asCode(NO_RTP_ID), '–', 'either', 'An account whose bank has no RTP: ACH only.'],
        ...rows,
      ],
    ),
    outcomes: markdownTable(
      ['Outcome', 'Does'],
      FORCED_OUTCOMES.map((outcome) => [asCode(outcome), outcomeMeanings[outcome]]),
    ),
    test_banks: markdownTable(
      ['Routing number', 'Bank'],
      [
        [asCode(TEST_ROUTING_NUMBER), 'a test bank with RTP and ACH'],
        [asCode(TEST_ROUTING_NUMBER_WITHOUT_RTP), 'a test bank with ACH only'],
      ],
    ),
    sandbox_rtp_time: inWords(sandbox.rtpMs),
    sandbox_ach_time: inWords(sandbox.achMs),
  };
}
