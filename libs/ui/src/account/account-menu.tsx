import { ActionIcon, Menu, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { drafts } from '../form/drafts.ts';
import { toast } from '../show/toast.ts';
import { Icon } from '../theme/icons.tsx';
import type { Account } from './account.ts';
import { texts } from './texts.ts';

export function AccountMenu(props: {
  account: Account;
  person: { name: string; email: string };
  /** What stands on the button. */
  initials: string;
  onLoggedOut: () => void | Promise<void>;
}) {
  const { account, person, initials } = props;
  const logOut = async () => {
    try {
      await account.client.post(`${account.paths.auth}/logout`);
      drafts.forget();
      await props.onLoggedOut();
    } catch (error) {
      toast.problem(error);
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="light" size="lg" radius="xl" aria-label={`${initials} · ${texts.menu.label}`}>
          {initials}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)">
            {person.name}
          </Text>
          {person.email}
        </Menu.Label>
        <Menu.Item component={Link} to="/settings" leftSection={<Icon name="settings" />}>
          {texts.menu.settings}
        </Menu.Item>
        <Menu.Item onClick={() => void logOut()} leftSection={<Icon name="logout" />}>
          {texts.menu.logOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
