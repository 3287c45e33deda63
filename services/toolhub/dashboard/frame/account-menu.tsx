import { drafts, Icon, toast } from '@libs/ui';
import { ActionIcon, Menu, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import type { Customer } from '../session/me.ts';
import { texts } from '../texts.ts';

export function AccountMenu({ customer }: { customer: Customer }) {
  const initial = ([...customer.name.trim()][0] ?? '?').toUpperCase();
  const logOut = async () => {
    try {
      await client.post('/api/auth/logout');
      drafts.forget();
      // From the start: nothing that was read stays in this page.
      window.location.assign('/login');
    } catch (error) {
      toast.problem(error);
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="light" size="lg" radius="xl" aria-label={`${initial} · ${texts.account.label}`}>
          {initial}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)">
            {customer.name}
          </Text>
          {customer.email}
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
