import { Page } from '@libs/ui';
import { PasskeysPanel, PasswordPanel, ProfilePanel, SessionsPanel } from '@libs/ui/account';
import { SimpleGrid, Stack } from '@mantine/core';
import { account } from '../session/account.tsx';
import { useMe } from '../session/me.ts';
import { texts } from '../texts.ts';
import { DeletePanel } from './delete-panel.tsx';
import { ExportPanel } from './export-panel.tsx';

const words = texts.settings;

export function SettingsPage() {
  const me = useMe();
  return (
    <Page title={words.title}>
      {me.data === undefined || me.data === null ? null : (
        <Stack gap="lg">
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <ProfilePanel account={account} person={me.data.customer} />
            <PasswordPanel account={account} />
          </SimpleGrid>
          <PasskeysPanel account={account} />
          <SessionsPanel account={account} />
          <ExportPanel />
          <DeletePanel />
        </Stack>
      )}
    </Page>
  );
}
