import {
  ConfirmButton,
  Facts,
  NotFoundPage,
  Page,
  Panel,
  QueryView,
  ToStart,
  toast,
  useSearchState,
  When,
} from '@libs/ui';
import { Alert, Button, Group, Stack } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';
import { CredentialForm } from './credential-form.tsx';
import { HealthBadge, statusOf } from './health-badge.tsx';
import { LoginPanel, NotRegistered, serverRefusal } from './login-panel.tsx';
import {
  CREDENTIALS_PATH,
  HEALTH_PATH,
  type Platform,
  useCredentials,
  useHealth,
  usePlatforms,
} from './platforms.ts';
import { type TokenEnd, tokenEndOf } from './token-end.ts';

const words = texts.connections;

export function ConnectionPage() {
  const { platform: id } = useParams({ strict: false }) as { platform: string };
  const platforms = usePlatforms();
  const platform = platforms.data?.data.find((each) => each.platform === id);
  if (platforms.data !== undefined && platform === undefined) return <NotFoundPage action={<ToStart />} />;
  // One page, read or not: a second one would take the focus from what is on it.
  return (
    <Page
      title={platform?.title ?? words.connection}
      lead={platform && texts.platformLeads[platform.platform]}
    >
      <QueryView query={platforms}>
        {() => (platform === undefined ? null : <Connection key={id} platform={platform} />)}
      </QueryView>
    </Page>
  );
}

function Connection({ platform }: { platform: Platform }) {
  const canLogIn = platform.logins.some(({ registered }) => registered);
  const credentials = useCredentials();
  const health = useHealth();
  const credential = credentials.data?.data.find((each) => each.platform === platform.platform);
  const state = health.data?.platforms.find((each) => each.platform === platform.platform);
  return (
    <>
      <ReturnMessage platform={platform} />
      {credential === undefined ? null : (
        <Panel
          title={words.connection}
          actions={
            <Group gap="xs">
              <Button
                component={Link}
                to="/tools"
                search={{ platform: platform.platform } as never}
                size="xs"
                variant="default"
              >
                {words.seeTools}
              </Button>
              <ConfirmButton
                danger
                label={words.disconnect}
                question={words.disconnectQuestion(platform.title)}
                explanation={words.disconnectHint}
                onConfirm={async () => {
                  await client.delete(`${CREDENTIALS_PATH}/${platform.platform}`);
                  await refresh(CREDENTIALS_PATH, HEALTH_PATH);
                  toast.done(words.disconnected);
                }}
              />
            </Group>
          }
        >
          <Facts
            facts={[
              [words.status, <HealthBadge key="status" status={statusOf(credential, state)} />],
              [words.account, credential.account],
              [words.message, state?.message ?? null],
              [words.latency, state?.latency_ms == null ? null : `${state.latency_ms} ms`],
              ...tokenFacts(tokenEndOf(credential, new Date())),
              [words.changed, <When key="changed" at={credential.updated_at} />],
              [
                words.checked,
                health.data === undefined ? null : <When key="checked" at={health.data.checked_at} />,
              ],
            ]}
          />
        </Panel>
      )}
      <Stack gap="lg">
        {canLogIn ? <LoginPanel platform={platform} again={credential !== undefined} /> : null}
        <Panel
          title={credential === undefined ? words.byKey : words.byKeyAgain}
          lead={canLogIn ? words.orPaste : words.byKeyLead}
        >
          <Stack>
            {canLogIn ? null : <NotRegistered platform={platform} />}
            <CredentialForm platform={platform} />
          </Stack>
        </Panel>
      </Stack>
    </>
  );
}

function tokenFacts(end: TokenEnd | null): [string, ReactNode][] {
  if (end === null) return [];
  return [
    [
      end.label,
      <span key="end">
        <When at={end.at} />
        {end.rest}
      </span>,
    ],
  ];
}

/** What the way to the vendor and back came to. */
function ReturnMessage({ platform }: { platform: Platform }) {
  const { values } = useSearchState();
  if (values.connected === 'true')
    return (
      <Alert color="teal" role="status">
        {words.nowConnected}
      </Alert>
    );
  if (values.error === undefined || serverRefusal(platform, values.error) !== null) return null;
  return (
    <Alert color="red" role="alert" title={words.notConnected}>
      {words.errors[values.error] ?? words.otherError(values.error)}
    </Alert>
  );
}
