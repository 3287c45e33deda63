import { Group, Stack, Text, Title } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { viewersZone } from '../form/clock-field.ts';
import { texts } from '../texts.ts';

/** The name of the program, for the title of the window. */
export const AppName = createContext('');

let isFirstPage = true;

/** One page: its one `h1`, what can be done on it, and its content. */
export function Page(props: { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  const appName = useContext(AppName);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · ${appName}`;
  }, [props.title, appName]);
  useEffect(() => {
    // A screen reader hears the new page's name; the first page is read by itself.
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return (
    <Stack className="ui-page" gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          <Title order={1} ref={heading} tabIndex={-1}>
            {props.title}
          </Title>
          {props.lead === undefined ? null : (
            <Text c="dimmed" size="sm" mt={4} component="div">
              {props.lead}
            </Text>
          )}
          {/* Hidden on a page where no time leaves it open. */}
          <Text c="dimmed" size="sm" mt={4} className="ui-zone">
            {texts.zone(viewersZone)}
          </Text>
        </div>
        {props.actions === undefined ? null : <Group gap="xs">{props.actions}</Group>}
      </Group>
      {props.children}
    </Stack>
  );
}
