import {
  ActionButton,
  Empty,
  Page,
  PagedView,
  QueryView,
  toast,
  usePlaceInAddress,
  useSearchState,
  When,
} from '@libs/ui';
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Group,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { client, FOLLOW_MS, refresh, useList, useObject } from '../api/client.ts';
import { platformTitle, useCredentials } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { ClassBadge } from '../tools/class-badge.tsx';
import { useTools } from '../tools/tool.ts';
import { APPROVALS_PATH, type Approval, type ApprovalStatus } from './approval.ts';
import { Arguments } from './arguments.tsx';
import { RulesPanel } from './rules-panel.tsx';

const words = texts.approvals;
const STATUSES: readonly ApprovalStatus[] = ['pending', 'allowed', 'denied', 'expired', 'used'];
const colors: Record<ApprovalStatus, string> = {
  pending: 'yellow',
  allowed: 'teal',
  denied: 'red',
  expired: 'gray',
  used: 'blue',
};

/** The address that a waiting call answers with names the call; it is shown alone, and whole. */
function OneApproval({ id }: { id: string }) {
  const query = useObject<Approval>(`${APPROVALS_PATH}/${encodeURIComponent(id)}`, { refetchMs: FOLLOW_MS });
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <Button component={Link} to="/approvals" variant="default">
          {words.all}
        </Button>
      }
    >
      <QueryView query={query}>{(approval) => <ApprovalCard approval={approval} />}</QueryView>
    </Page>
  );
}

export function ApprovalsPage() {
  const { id } = useSearchState().values;
  return id === undefined ? <ApprovalList /> : <OneApproval id={id} />;
}

function ApprovalList() {
  const search = useSearchState();
  const status = STATUSES.find((each) => each === search.values.status) ?? 'pending';
  const place = usePlaceInAddress();
  const query = useList<Approval>(
    APPROVALS_PATH,
    { status, cursor: place.cursor },
    { refetchMs: () => FOLLOW_MS },
  );
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <SegmentedControl
          aria-label={words.status}
          value={status}
          onChange={(value) => search.set({ status: value })}
          data={STATUSES.map((value) => ({ value, label: words.statuses[value] }))}
        />
      }
    >
      <PagedView
        place={place}
        query={query}
        empty={
          <Paper className="ui-panel">
            <Empty icon="check" title={words.none[status] ?? words.noneOther} next={words.noneNext} />
          </Paper>
        }
      >
        {(approvals) => (
          <Stack>
            {approvals.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} />
            ))}
          </Stack>
        )}
      </PagedView>
      <RulesPanel />
    </Page>
  );
}

function wordsAbove(approval: Approval): Record<ApprovalStatus, string> {
  if (approval.arguments_cut) return words.cutShort;
  return approval.data_cut ? words.withData : words.exactly;
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const { id, tool: name, platform, status, client: asker } = approval;
  const tool = useTools().data?.data.find((each) => each.name === name);
  const connections = useCredentials().data?.data;
  const connected = connections?.find((each) => each.platform === platform);
  const isOpen = status === 'pending' || status === 'allowed';
  const title = `${tool?.title ?? name} · ${platformTitle(platform)}`;
  const decide = async (verdict: 'allow' | 'deny', body: object) => {
    await client.post(`${APPROVALS_PATH}/${id}/${verdict}`, body);
    await refresh(APPROVALS_PATH);
    toast.done(verdict === 'allow' ? words.allowedDone : words.deniedDone);
  };
  return (
    <Paper className="ui-panel" p="lg" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} fz="md">
            <Anchor component={Link} to="/tools/$name" params={{ name } as never} inherit>
              {title}
            </Anchor>
          </Title>
          <Group gap="xs">
            {tool === undefined ? null : <ClassBadge value={tool.class} />}
            <Badge color={colors[status]}>{words.statuses[status]}</Badge>
          </Group>
        </Group>
        <Text size="sm">
          {words.asks({
            client: asker.name,
            wants: words.wants[status],
            does: words.does[tool?.class ?? 'W'],
            account:
              connected?.account ??
              (connections === undefined ? words.someAccount : words.noAccount)(platformTitle(platform)),
          })}
        </Text>
        <Text size="sm" c="dimmed" component="div">
          {words.asked} <When at={approval.created_at} />
          {isOpen ? (
            <>
              {' '}
              · {words.until} <When at={approval.expires_at} />
            </>
          ) : null}
        </Text>
        <Text size="sm">{wordsAbove(approval)[status]}</Text>
        <Arguments value={approval.arguments} />
        {approval.arguments_cut ? (
          <Anchor component={Link} to="/approvals" search={{ id } as never} size="sm">
            {status === 'pending' ? words.wholeToAllow : words.whole}
          </Anchor>
        ) : null}
        {status === 'pending' ? (
          <Group>
            {/* Who allows has seen all of it, but for data that nobody reads. */}
            {approval.arguments_cut ? null : (
              <ActionButton variant="filled" onAct={() => decide('allow', { remember: 'once' })}>
                {words.allowOnce}
              </ActionButton>
            )}
            <ActionButton
              c="light-dark(var(--mantine-color-red-8), var(--mantine-color-red-3))"
              onAct={() => decide('deny', {})}
            >
              {words.deny}
            </ActionButton>
            {approval.arguments_cut ? null : (
              <ActionButton onAct={() => decide('allow', { remember: 'client' })}>
                {words.allowAlways}
              </ActionButton>
            )}
          </Group>
        ) : null}
        {status === 'allowed' ? (
          <Alert color="teal" role="note">
            {words.allowedHint}
          </Alert>
        ) : null}
      </Stack>
    </Paper>
  );
}
