import { Icon } from '@libs/ui';
import { Button, Menu } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { addressInMode, mode } from '../api/mode.ts';
import { texts } from '../texts.ts';

/** The darkest orange that is still one: white on it can be read. */
const TEST_COLOR = '#b4400a';

const other = mode === 'test' ? 'live' : 'test';

/** Says which mode this is, by word and by colour; the other one is another address. */
export function ModeSwitch() {
  const { pathname } = useLocation();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="xs"
          color={mode === 'test' ? TEST_COLOR : 'brand'}
          leftSection={<Icon name={mode === 'test' ? 'flask' : 'bolt'} size={14} />}
          aria-label={`${texts.mode.label}: ${texts.mode[mode]}`}
        >
          {texts.mode[mode]}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{mode === 'test' ? texts.mode.testBanner : texts.mode.liveBanner}</Menu.Label>
        <Menu.Item component="a" href={addressInMode(other, pathname)}>
          {other === 'live' ? texts.mode.toLive : texts.mode.toTest}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
