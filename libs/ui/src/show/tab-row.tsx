import { Tabs } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useIsSideways } from './sideways.ts';

/** The tabs of a page in one line: on a phone it moves sideways, and the chosen one is in view. */
export function TabRow<Name extends string>(props: {
  label: string;
  chosen: Name;
  tabs: readonly (readonly [name: Name, title: string])[];
}) {
  const list = useRef<HTMLDivElement>(null);
  const isSideways = useIsSideways(list);
  const { chosen } = props;
  useEffect(() => {
    const row = list.current;
    const tab = row?.querySelector<HTMLElement>(`[data-name="${chosen}"]`);
    if (row == null || tab == null) return;
    row.scrollLeft = tab.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }, [chosen]);
  return (
    <Tabs.List
      ref={list}
      className="ui-tab-row"
      data-sideways={isSideways || undefined}
      aria-label={props.label}
      mb="md"
    >
      {props.tabs.map(([name, title]) => (
        <Tabs.Tab key={name} value={name} data-name={name}>
          {title}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  );
}
