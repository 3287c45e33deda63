import { type Column, ConfirmButton, CopyText, DataTable, Empty, Page, Panel, toast } from '@libs/ui';
import { Anchor, Button, Grid, Paper, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { client, queryClient } from '../api/client.ts';
import { addressInMode, mode } from '../api/mode.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { ClockPanel } from './clock-panel.tsx';
import { ForcePanel } from './force-panel.tsx';

const words = texts.sandbox;

const testIds: readonly (readonly [string, keyof typeof words.behaviours])[] = [
  ['pm_alice', 'any'],
  ['pm_test_no_rtp', 'no_rtp'],
  ['pm_test_rtp_reject_ac04', 'rtp_reject'],
  ['pm_test_rtp_reject_9912', 'rtp_reroute'],
  ['pm_test_rtp_timeout', 'rtp_timeout'],
  ['pm_test_rtp_timeout_reject_ac04', 'rtp_timeout_reject'],
  ['pm_test_ach_return_r01', 'ach_return'],
  ['pm_test_ach_late_return_r10', 'ach_late_return'],
  ['pm_test_ach_noc_c01', 'ach_noc'],
];

type TestId = (typeof testIds)[number];

const columns: readonly Column<TestId>[] = [
  { header: words.id, render: ([id]) => <CopyText text={id} label={id} /> },
  { header: words.behaviour, render: ([, behaviour]) => words.behaviours[behaviour] },
];

const payColumn: Column<TestId> = {
  header: texts.common.actions,
  render: ([id]) => (
    <Anchor
      component={Link}
      to="/payments/new"
      search={{ from: 'pm_bob', to: id } as never}
      size="sm"
      className="ui-together"
      aria-label={`${words.use}: ${id}`}
    >
      {words.use}
    </Anchor>
  ),
};

export function SandboxPage() {
  const rights = useRights();
  if (mode === 'live')
    return (
      <Page title={words.title}>
        <Paper className="ui-panel">
          <Empty
            icon="flask"
            title={words.onlyTest}
            action={
              <Button component="a" href={addressInMode('test', '/sandbox')}>
                {texts.mode.toTest}
              </Button>
            }
          />
        </Paper>
      </Page>
    );
  return (
    <Page title={words.title} lead={texts.mode.testBanner}>
      {rights.write ? (
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 7 }}>
            <ClockPanel />
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 5 }}>
            <Stack gap="lg">
              <ForcePanel />
              <ResetPanel />
            </Stack>
          </Grid.Col>
        </Grid>
      ) : null}
      <Panel title={words.ids} lead={words.idsLead} flush>
        <DataTable
          label={words.ids}
          columns={rights.write ? [...columns, payColumn] : columns}
          rows={testIds}
          keyOf={([id]) => id}
        />
      </Panel>
    </Page>
  );
}

function ResetPanel() {
  return (
    <Panel title={words.reset} lead={words.resetLead}>
      <ConfirmButton
        danger
        size="sm"
        label={words.reset}
        question={words.resetQuestion}
        explanation={words.resetLead}
        onConfirm={async () => {
          await client.post('/v1/sandbox/reset');
          await queryClient.invalidateQueries();
          toast.done(words.resetDone);
        }}
      />
    </Panel>
  );
}
