import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';

/** A part of a page under a heading of its own. */
export function Panel(props: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** For tables, which reach to the edge. */
  flush?: boolean;
  children: ReactNode;
}) {
  const inset = props.flush === true ? { px: 'lg', pt: 'lg' } : {};
  return (
    <Paper component="section" className="ui-panel" p={props.flush === true ? 0 : 'lg'}>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" gap="sm" {...inset}>
          {/* Beside short actions, above longer ones: the same for all panels of a page. */}
          <div style={{ flex: '1 1 9.5rem', minWidth: 0 }}>
            <Title order={2}>{props.title}</Title>
            {props.lead === undefined ? null : (
              <Text size="sm" c="dimmed" mt={2}>
                {props.lead}
              </Text>
            )}
          </div>
          {props.actions}
        </Group>
        <div>{props.children}</div>
      </Stack>
    </Paper>
  );
}

/** Names and what they stand for; pairs without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="ui-facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
