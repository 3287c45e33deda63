import { Amount, type Column, DataTable, formatAmount, Panel, When } from '@libs/ui';
import { Badge, Group } from '@mantine/core';
import type { Payment, RailCandidate, RailDecision } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { RailName } from '../status.tsx';

const words = texts.payment;

/** What each rail would have cost and when it would have settled, and why one was taken. */
export function DecisionPanel(props: { decision: RailDecision; asked: Payment['rail'] }) {
  const lead =
    props.asked === 'auto'
      ? words.decisionLead[props.decision.prefer]
      : words.asked(texts.rails[props.asked]);
  return (
    <Panel title={words.decision} lead={lead} flush>
      <DecisionTable decision={props.decision} />
    </Panel>
  );
}

export function DecisionTable({ decision }: { decision: RailDecision }) {
  return (
    <DataTable
      label={words.decision}
      columns={columnsFor(decision)}
      rows={decision.candidates}
      keyOf={({ rail }) => rail}
    />
  );
}

function columnsFor(decision: RailDecision): Column<RailCandidate>[] {
  const { chosen } = decision;
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
      render: ({ fee }) => (fee === null ? '–' : <Amount minor={fee.amount} />),
    },
    { header: words.settles, align: 'right', render: ({ settles_at: at }) => <When at={at} /> },
    {
      header: words.score,
      align: 'right',
      render: ({ score }) => (score === null ? '–' : formatAmount(Math.round(score))),
    },
    { header: words.why, render: (candidate) => whyOf(candidate, decision) },
  ];
}

function whyOf({ rail, possible, reasons, score }: RailCandidate, decision: RailDecision): string {
  const { chosen, candidates, prefer } = decision;
  if (!possible) return sentence(reasons.join(', '));
  if (candidates.filter((other) => other.possible).length === 1) return words.onlyPossible;
  if (rail === chosen) return words.chosenBecause[prefer];
  const least = candidates.find((other) => other.rail === chosen)?.score ?? null;
  if (prefer !== 'balanced' || score === null || least === null) return words.notChosenDearer;
  return words.dearerBy(formatAmount(Math.round(score - least)));
}

/** Codes of the API as people read them. */
function sentence(codes: string): string {
  return `${codes.charAt(0).toUpperCase()}${codes.slice(1).replaceAll('_', ' ')}`;
}
