import { Panel, When } from '@libs/ui';
import { Text, Timeline } from '@mantine/core';
import type { Payment } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { statusColors } from '../status.tsx';

const words = texts.payment;

/** Every state with its moment; while it is on its way, the last point is the one that is expected. */
export function TimelinePanel({ payment }: { payment: Payment }) {
  const isUnderWay = payment.status === 'pending' || payment.status === 'processing';
  return (
    <Panel title={words.timeline}>
      <Timeline active={payment.timeline.length - 1} bulletSize={16} lineWidth={2}>
        {payment.timeline.map(({ status, timestamp }, index) => (
          <Timeline.Item
            key={`${status} ${timestamp}`}
            color={statusColors[status]}
            title={texts.statuses[status]}
            lineVariant={isUnderWay && index === payment.timeline.length - 1 ? 'dashed' : 'solid'}
          >
            <Text size="sm" c="dimmed" component="div">
              <When at={timestamp} withZone />
            </Text>
          </Timeline.Item>
        ))}
        {isUnderWay ? (
          <Timeline.Item title={words.expected} lineVariant="dashed">
            <Text size="sm" c="dimmed" component="div">
              <When at={payment.estimated_settlement_at} withZone />
            </Text>
          </Timeline.Item>
        ) : null}
      </Timeline>
    </Panel>
  );
}
