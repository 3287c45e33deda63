import { Panel } from '@libs/ui';
import { Button, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { FOLLOW_MS, useList } from '../api/client.ts';
import { APPROVALS_PATH, type Approval } from '../approvals/approval.ts';
import { platformTitle, useCredentials } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { usePlan } from './usage.ts';

const words = texts.attention;
/** As many as one page of them holds. */
const APPROVALS_MAX = 100;

interface Matter {
  text: string;
  action: string;
  to: string;
  params?: Record<string, string>;
}

/** What stands still until the customer does something; nothing where there is nothing. */
export function Attention() {
  const approvals = useList<Approval>(
    APPROVALS_PATH,
    { status: 'pending', limit: APPROVALS_MAX },
    { refetchMs: () => FOLLOW_MS },
  );
  const credentials = useCredentials();
  const plan = usePlan().data;
  const waiting = approvals.data?.data.length ?? 0;
  const wordsOf = approvals.data?.next_cursor ? words.moreWaiting : words.waiting;
  const expired = (credentials.data?.data ?? []).filter(({ status }) => status === 'expired');
  const matters: Matter[] = [
    ...(waiting === 0
      ? []
      : [{ text: wordsOf(waiting), action: words.decide, to: '/approvals' } satisfies Matter]),
    ...expired.map(
      ({ platform, account }): Matter => ({
        text: words.expired(platformTitle(platform), account),
        action: texts.connections.reconnect,
        to: '/connections/$platform',
        params: { platform },
      }),
    ),
    ...(plan?.stops_at_limit === true && plan.used >= plan.limit
      ? [{ text: words.usedUp, action: texts.quota.change, to: '/billing' } satisfies Matter]
      : []),
  ];
  if (matters.length === 0) return null;
  return (
    <Panel title={words.title}>
      <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
        {matters.map(({ text, action, to, params }) => (
          <Group key={text} component="li" justify="space-between" wrap="nowrap">
            <Text size="sm">{text}</Text>
            <Button
              component={Link}
              to={to}
              params={params as never}
              size="xs"
              flex="none"
              aria-label={`${action}: ${text}`}
            >
              {action}
            </Button>
          </Group>
        ))}
      </Stack>
    </Panel>
  );
}
