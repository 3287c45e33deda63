import { drafts, Icon, toast } from '@libs/ui';
import { ActionIcon, Menu, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { client, queryClient } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { texts } from '../texts.ts';

export function AccountMenu({ session }: { session: Session }) {
  const navigate = useNavigate();
  const logOut = async () => {
    try {
      await client.post('/v1/session/logout');
      drafts.forget();
      await navigate({ to: '/login' });
      queryClient.clear();
    } catch (error) {
      toast.problem(error);
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="light"
          size="lg"
          radius="xl"
          aria-label={`${initialsOf(session.user.name)} · ${texts.account.label}`}
        >
          {initialsOf(session.user.name)}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)">
            {session.user.name}
          </Text>
          {session.user.email}
        </Menu.Label>
        <Menu.Item component={Link} to="/settings" leftSection={<Icon name="settings" />}>
          {texts.navigation.settings}
        </Menu.Item>
        <Menu.Item onClick={() => void logOut()} leftSection={<Icon name="logout" />}>
          {texts.account.logOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  );
  return letters.join('').toUpperCase() || '?';
}
