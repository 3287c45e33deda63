import { Page } from '@libs/ui';
import { PasskeysPanel, PasswordPanel, ProfilePanel, SessionsPanel } from '@libs/ui/account';
import { SimpleGrid, Stack } from '@mantine/core';
import type { Session } from '../api/types.ts';
import { account } from '../session/account.tsx';
import { useRights, useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { LiveAccessPanel } from './live-access-panel.tsx';
import { AnotherOrganisationPanel, OrganisationPanel } from './organisation-panels.tsx';

export function SettingsPage() {
  const session = useSession();
  return (
    <Page title={texts.settings.title}>
      {session.data === undefined ? null : <SettingsView session={session.data} />}
    </Page>
  );
}

function SettingsView({ session }: { session: Session }) {
  const rights = useRights();
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack gap="lg">
          <ProfilePanel account={account} person={session.user} />
          <PasswordPanel account={account} />
        </Stack>
        <Stack gap="lg">
          {rights.manage ? <OrganisationPanel name={session.organisation?.name ?? ''} /> : null}
          <LiveAccessPanel />
          <AnotherOrganisationPanel />
        </Stack>
      </SimpleGrid>
      <PasskeysPanel account={account} secondFactor={session.user} />
      <SessionsPanel account={account} />
    </>
  );
}
