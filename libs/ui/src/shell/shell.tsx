import { ActionIcon, AppShell, Box, Burger, Group, ScrollArea, Text, Tooltip } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Link, useLocation } from '@tanstack/react-router';
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { texts } from '../texts.ts';
import { Icon, type IconName } from '../theme/icons.tsx';
import { ColourSwitch } from './colour-switch.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import type { PaletteProps } from './palette.tsx';

export interface NavigationItem {
  to: string;
  label: string;
  icon: IconName;
}

export interface NavigationGroup {
  label?: string;
  items: readonly NavigationItem[];
}

export interface ShellProps {
  brand: ReactNode;
  navigation: readonly NavigationGroup[];
  /** Above the navigation: which organisation one works for. */
  place?: ReactNode;
  /** In the header, before the switches every product has. */
  header?: ReactNode;
  /** A line over every page, and the colour of the whole frame: what must never be overlooked. */
  mode?: { color: string; banner: ReactNode };
  account: ReactNode;
  palette: PaletteProps;
  children: ReactNode;
}

const HEADER_HEIGHT = 58;
const NAVIGATION_WIDTH = 236;

const LazyPalette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** The frame around every page: navigation (a drawer on a phone), switches, command palette, and the state of the line. */
export function Shell(props: ShellProps) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [wanted, setWanted] = useState(false);
  const { pathname } = useLocation();
  const burger = useRef<HTMLButtonElement>(null);
  const closeByKey = ({ key }: KeyboardEvent) => {
    if (!opened || key !== 'Escape') return;
    close();
    burger.current?.focus();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes when the page changes
  useEffect(close, [pathname]);
  const openPalette = () => {
    setWanted(true);
    void import('./palette-store.ts').then(({ palette }) => palette.open());
  };
  useHotkeys([['mod+K', openPalette]], []);
  return (
    <AppShell
      header={{ height: HEADER_HEIGHT }}
      navbar={{ width: NAVIGATION_WIDTH, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a href="#content" className="ui-skip">
        {texts.skipToContent}
      </a>
      <AppShell.Header>
        {props.mode === undefined ? null : (
          <Box className="ui-mode" __vars={{ '--ui-mode': props.mode.color }} />
        )}
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs" mt={props.mode ? -3 : 0}>
          <Group gap="sm" wrap="nowrap">
            <Burger
              ref={burger}
              opened={opened}
              aria-expanded={opened}
              onKeyDown={closeByKey}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? texts.closeMenu : texts.openMenu}
            />
            {props.brand}
          </Group>
          <Group gap={6} wrap="nowrap">
            {props.header}
            <Tooltip label={`${texts.search} (Ctrl K)`}>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                onClick={openPalette}
                aria-label={texts.search}
              >
                <Icon name="search" />
              </ActionIcon>
            </Tooltip>
            <ColourSwitch />
            {props.account}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p="xs"
        aria-label={texts.navigation}
        className="ui-drawer"
        data-closed={!opened || undefined}
        onKeyDown={closeByKey}
      >
        {props.place}
        <AppShell.Section grow component={ScrollArea} className="ui-nav">
          {props.navigation.map((group) => (
            <NavigationGroupView key={group.label ?? ''} group={group} onChosen={close} />
          ))}
        </AppShell.Section>
      </AppShell.Navbar>
      {/* Whoever comes to the page by the keyboard sees where they are, and not the drawer above it. */}
      <AppShell.Main id="content" onFocus={close}>
        <ConnectionBanner />
        {props.mode?.banner}
        {props.children}
      </AppShell.Main>
      {wanted ? (
        <Suspense>
          <LazyPalette {...props.palette} />
        </Suspense>
      ) : null}
    </AppShell>
  );
}

/** Also who is at the page that they choose wants to see it. */
function NavigationGroupView({ group, onChosen }: { group: NavigationGroup; onChosen: () => void }) {
  return (
    <div>
      {group.label === undefined ? null : <Text className="ui-nav-group">{group.label}</Text>}
      {group.items.map(({ to, label, icon }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/', includeSearch: false }} onClick={onChosen}>
          <Icon name={icon} />
          {label}
        </Link>
      ))}
    </div>
  );
}
