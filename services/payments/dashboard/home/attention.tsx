import { formatAmount, Icon, type ListPage, Panel } from '@libs/ui';
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import { POLL_MS } from '../api/polling.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import type { Overview } from './overview.ts';

const words = texts.home;

interface Concern {
  text: string;
  to: string;
  search?: Record<string, string>;
}

/** What somebody should look at, with the way there. */
export function Attention({ overview }: { overview: Overview }) {
  const rights = useRights();
  const quarantine = useList<unknown>(
    '/v1/admin/quarantine',
    { status: 'open', limit: 100 },
    { enabled: rights.operate, refetchMs: () => POLL_MS },
  );
  const concerns = concernsOf(overview, quarantine.data ?? { data: [] });
  return (
    <Panel title={words.attention}>
      {concerns.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.calm}
        </Text>
      ) : (
        <Stack gap="xs">
          {concerns.map(({ text, to, search }) => (
            <Group key={text} gap="sm" wrap="nowrap">
              <Text c="orange.8" component="span" lh={1}>
                <Icon name="warning" />
              </Text>
              <Anchor component={Link} to={to} search={(search ?? {}) as never} size="sm">
                {text}
              </Anchor>
            </Group>
          ))}
        </Stack>
      )}
    </Panel>
  );
}

function concernsOf({ attention, currency }: Overview, quarantine: ListPage<unknown>): Concern[] {
  const quarantined = quarantine.data.length;
  // As many as one page of it holds.
  const wordsOfQuarantine = quarantine.next_cursor ? words.moreQuarantine : words.quarantine;
  const all: [number, Concern][] = [
    [
      attention.failed_deliveries,
      { text: words.failedDeliveries(attention.failed_deliveries), to: '/webhooks' },
    ],
    [
      attention.disabled_endpoints,
      { text: words.disabledEndpoints(attention.disabled_endpoints), to: '/webhooks' },
    ],
    [
      attention.returned_payments,
      { text: words.returns(attention.returned_payments), to: '/payments', search: { status: 'returned' } },
    ],
    [
      attention.failed_payments,
      { text: words.failures(attention.failed_payments), to: '/payments', search: { status: 'failed' } },
    ],
    [attention.owed, { text: words.owed(formatAmount(attention.owed, currency)), to: '/ledger' }],
    [
      quarantined,
      {
        text: wordsOfQuarantine(quarantined),
        to: '/operator',
        search: { tab: 'quarantine', status: 'open' },
      },
    ],
  ];
  return all.filter(([count]) => count > 0).map(([, concern]) => concern);
}
