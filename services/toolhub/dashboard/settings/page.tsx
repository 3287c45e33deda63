import { Page } from '@libs/ui';
import { SimpleGrid, Stack } from '@mantine/core';
import { useMe } from '../session/me.ts';
import { texts } from '../texts.ts';
import { DeletePanel } from './delete-panel.tsx';
import { PasswordPanel, ProfilePanel } from './profile-panels.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

const words = texts.settings;

export function SettingsPage() {
  const me = useMe();
  return (
    <Page title={words.title}>
      {me.data === undefined ? null : (
        <Stack gap="lg">
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <ProfilePanel customer={me.data.customer} />
            <PasswordPanel />
          </SimpleGrid>
          <SessionsPanel />
          <DeletePanel />
        </Stack>
      )}
    </Page>
  );
}
