import { Amount, Coded, type Column, DataTable, formatAmount, Panel, When, wordsOfCode } from '@libs/ui';
import { Badge, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Payment, RailCandidate, RailDecision } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { RailName } from '../status.tsx';

const words = texts.payment;
const obstacles: Readonly<Record<string, string>> = words.obstacles;

interface Decided {
  decision: RailDecision;
  /** The rail that the payment named, or `auto`. */
  asked: Payment['rail'];
}

/** What each rail would have cost and when it would have settled, and why one was taken. */
export function DecisionPanel({ decision, asked }: Decided) {
  const lead = asked === 'auto' ? words.decisionLead[decision.prefer] : words.asked(texts.rails[asked]);
  return (
    <Panel title={words.decision} lead={lead} flush>
      <DataTable
        label={words.decision}
        columns={columnsFor({ decision, asked })}
        rows={decision.candidates}
        keyOf={({ rail }) => rail}
      />
    </Panel>
  );
}

function columnsFor(decided: Decided): Column<RailCandidate>[] {
  const { chosen } = decided.decision;
  return [
    {
      header: words.candidate,
      render: ({ rail }) => (
        <Group gap="xs" wrap="nowrap">
          <strong>
            <RailName rail={rail} />
          </strong>
          {rail === chosen ? <Badge color="brand">{words.chosen}</Badge> : null}
        </Group>
      ),
    },
    {
      header: words.fee,
      align: 'right',
      has: ({ fee }) => fee !== null,
      render: ({ fee }) => (fee === null ? '' : <Amount minor={fee.amount} />),
    },
    {
      header: words.settles,
      align: 'right',
      has: ({ settles_at: at }) => at !== null,
      render: ({ settles_at: at }) => <When at={at} />,
    },
    {
      header: words.score,
      align: 'right',
      has: ({ score }) => score !== null,
      render: ({ score }) => (score === null ? '' : <Amount minor={Math.round(score)} />),
    },
    { header: words.why, render: (candidate) => whyOf(candidate, decided) },
  ];
}

/** The same in few words, for where there is no room for a table. */
export function DecisionLines({ decision, asked }: Decided) {
  return (
    <Stack gap="sm">
      {decision.candidates.map((candidate) => (
        <div key={candidate.rail}>
          <Group gap="xs" fz="sm">
            <strong>
              <RailName rail={candidate.rail} />
            </strong>
            {candidate.rail === decision.chosen ? <Badge color="brand">{words.chosen}</Badge> : null}
            {candidate.fee === null ? null : <Amount minor={candidate.fee.amount} />}
            {candidate.settles_at === null ? null : <When at={candidate.settles_at} />}
          </Group>
          <Text size="sm" c="dimmed" component="div">
            {whyOf(candidate, { decision, asked })}
          </Text>
        </div>
      ))}
    </Stack>
  );
}

function whyOf({ rail, possible, reasons, score }: RailCandidate, { decision, asked }: Decided): ReactNode {
  const { chosen, candidates, prefer } = decision;
  if (!possible)
    return (
      <Stack gap={0}>
        {reasons.map((reason) => (
          <Coded key={reason} code={reason} words={obstacles[reason] ?? wordsOfCode(reason)} />
        ))}
      </Stack>
    );
  // Nothing was weighed, and the one that was asked for may be the dearer one.
  if (asked !== 'auto') return rail === chosen ? words.askedFor : words.notAskedFor;
  if (candidates.filter((other) => other.possible).length === 1) return words.onlyPossible;
  if (rail === chosen) return words.chosenBecause[prefer];
  const least = candidates.find((other) => other.rail === chosen)?.score ?? null;
  if (prefer !== 'balanced' || score === null || least === null) return words.notChosenDearer;
  return words.dearerBy(formatAmount(Math.round(score - least)));
}
