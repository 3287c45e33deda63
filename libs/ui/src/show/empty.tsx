import { EmptyState, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../theme/icons.tsx';

/** A list without anything in it says why that is, and what to do next. */
export function Empty(props: {
  icon: IconName;
  title: string;
  next?: string;
  action?: ReactNode;
  /** For what is described by it. */
  id?: string;
}) {
  return (
    <EmptyState
      py="xl"
      px="md"
      variant="light"
      icon={<Icon name={props.icon} size={26} />}
      {...(props.id === undefined ? {} : { id: props.id })}
      title={props.title}
      {...(props.next === undefined ? {} : { description: props.next })}
    >
      {props.action === undefined || props.action === null ? null : (
        <EmptyState.Actions>{props.action}</EmptyState.Actions>
      )}
    </EmptyState>
  );
}

/** The same in a panel, which already says what would be in it. */
export function EmptyNote({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="dimmed" px="lg" pb="lg" className="ui-empty-note">
      {children}
    </Text>
  );
}
