import { ApiFormView, Panel, toast, useApiForm } from '@libs/ui';
import { Badge, Group, Stack, Text, Textarea } from '@mantine/core';
import { client, refresh, useObject } from '../api/client.ts';
import { SESSION_PATH } from '../api/shown-session.ts';
import type { LiveAccess } from '../api/types.ts';
import { useRights, useSession } from '../session/session.ts';
import { texts } from '../texts.ts';

const words = texts.settings;
const LIVE_ACCESS_PATH = '/v1/live_access';

const colors: Record<LiveAccess, string> = {
  none: 'gray',
  requested: 'blue',
  approved: 'brand',
  refused: 'red',
};

export function LiveAccessPanel() {
  const session = useSession();
  const rights = useRights();
  const state = session.data?.organisation?.live_access ?? 'none';
  const details = useObject<{ reason: string | null }>(LIVE_ACCESS_PATH, { enabled: state === 'refused' });
  const reason = state === 'refused' ? details.data?.reason : null;
  return (
    <Panel title={words.live}>
      <Stack>
        <Group gap="xs">
          <Badge color={colors[state]}>{words.liveNames[state]}</Badge>
          <Text size="sm">{words.liveStates[state]}</Text>
        </Group>
        {reason ? (
          <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
            {words.answered} {reason}
          </Text>
        ) : null}
        {state === 'none' || state === 'refused' ? rights.manage ? <RequestForm /> : <OwnersAsk /> : null}
      </Stack>
    </Panel>
  );
}

function OwnersAsk() {
  return (
    <Text size="sm" c="dimmed">
      {words.ownersAsk}
    </Text>
  );
}

function RequestForm() {
  const api = useApiForm({
    initialValues: { reason: '' },
    send: async ({ reason }) => {
      await client.post(LIVE_ACCESS_PATH, reason.trim() === '' ? {} : { reason: reason.trim() });
      await refresh(SESSION_PATH, LIVE_ACCESS_PATH);
      toast.done(words.requested);
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.request}>
      <Textarea label={words.reason} autosize minRows={2} {...api.form.getInputProps('reason')} />
    </ApiFormView>
  );
}
