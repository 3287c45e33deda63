import { Page, QueryView, When } from '@libs/ui';
import { Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { texts } from '../texts.ts';
import { HealthBadge, statusOf } from './health-badge.tsx';
import {
  type Credential,
  type Platform,
  type PlatformHealth,
  useCredentials,
  useHealth,
  usePlatforms,
} from './platforms.ts';
import { tokenEndOf } from './token-end.ts';

const words = texts.connections;

export function ConnectionsPage() {
  const platforms = usePlatforms();
  const credentials = useCredentials();
  const health = useHealth();
  return (
    <Page title={words.title} lead={words.lead}>
      <QueryView query={platforms}>
        {({ data }) => (
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
            {inOrder(data, credentials.data?.data ?? []).map((platform) => (
              <PlatformCard
                key={platform.platform}
                platform={platform}
                credential={credentials.data?.data.find((each) => each.platform === platform.platform)}
                health={health.data?.platforms.find((each) => each.platform === platform.platform)}
              />
            ))}
          </SimpleGrid>
        )}
      </QueryView>
    </Page>
  );
}

/** What is connected comes first. */
function inOrder(platforms: readonly Platform[], credentials: readonly Credential[]): Platform[] {
  const isConnected = ({ platform }: Platform) => credentials.some((each) => each.platform === platform);
  return platforms.toSorted((a, b) => Number(isConnected(b)) - Number(isConnected(a)));
}

function PlatformCard(props: {
  platform: Platform;
  credential: Credential | undefined;
  health: PlatformHealth | undefined;
}) {
  const { platform, credential, health } = props;
  const status = statusOf(credential, health);
  const tokenEnd = credential === undefined ? null : tokenEndOf(credential, new Date());
  const needsLogin = status === 'token_expired';
  const label = credential === undefined ? words.connect : needsLogin ? words.reconnect : words.manage;
  return (
    <Paper className="ui-panel" p="lg" component="section" aria-label={platform.title}>
      <Stack gap="xs" h="100%">
        <Group justify="space-between" wrap="nowrap">
          <Title order={2} fz="md">
            {platform.title}
          </Title>
          <HealthBadge status={status} />
        </Group>
        <Text size="sm" c="dimmed" flex={1} component="div">
          {credential === undefined ? texts.platformUses[platform.platform] : credential.account}
          {credential !== undefined && health?.message ? <div>{health.message}</div> : null}
          {tokenEnd === null ? null : (
            <div>
              {tokenEnd.label} <When at={tokenEnd.at} />
              {tokenEnd.rest}
            </div>
          )}
        </Text>
        <Group>
          <Button
            component={Link}
            to="/connections/$platform"
            params={{ platform: platform.platform } as never}
            size="xs"
            variant={needsLogin ? 'filled' : 'default'}
            aria-label={`${label}: ${platform.title}`}
          >
            {label}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
