import { ActionIcon, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { texts } from '../texts.ts';
import { Icon, type IconName } from '../theme/icons.tsx';

const choices: readonly [MantineColorScheme, IconName][] = [
  ['light', 'sun'],
  ['dark', 'moon'],
  ['auto', 'auto'],
];

export function ColourSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const current = choices.find(([scheme]) => scheme === colorScheme)?.[1] ?? 'auto';
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={texts.colours.label}>
          <Icon name={current} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(([scheme, icon]) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={icon} />}
            rightSection={scheme === colorScheme ? <Icon name="check" size={14} /> : null}
            onClick={() => setColorScheme(scheme)}
          >
            {texts.colours[scheme]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
