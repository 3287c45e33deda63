import { Icon, toast } from '@libs/ui';
import { Button, Menu, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { enterSession } from '../session/session.ts';
import { texts } from '../texts.ts';

/** For whom one works; only a menu where there is a choice. */
export function OrganisationSwitch({ session }: { session: Session }) {
  const navigate = useNavigate();
  const { organisation, organisations } = session;
  if (organisation === null || organisations.length < 2) {
    return (
      <Text fw={600} px="sm" py="xs" truncate title={organisation?.name}>
        {organisation?.name}
      </Text>
    );
  }
  const change = async (organisation_id: string) => {
    try {
      const next = await client.post<Session>('/v1/session/organisation', { organisation_id });
      enterSession(next);
      await navigate({ to: '/' });
    } catch (error) {
      toast.problem(error);
    }
  };
  return (
    <Menu position="bottom-start" width={220}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          justify="space-between"
          px="sm"
          rightSection={<Icon name="chevron" size={14} />}
          aria-label={`${texts.account.switchTo}: ${organisation.name}`}
        >
          {organisation.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{texts.account.switchTo}</Menu.Label>
        {organisations.map(({ id, name, role }) => (
          <Menu.Item
            key={id}
            onClick={() => void change(id)}
            rightSection={id === organisation.id ? <Icon name="check" size={14} /> : null}
          >
            {name}
            <Text size="xs" c="dimmed">
              {texts.roles[role]}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
