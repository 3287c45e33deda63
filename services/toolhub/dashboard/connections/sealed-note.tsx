import { Icon } from '@libs/ui';
import { Group, Text } from '@mantine/core';
import { texts } from '../texts.ts';

/** Below every form that takes a secret. */
export function SealedNote() {
  return (
    <Group gap={6} wrap="nowrap" c="dimmed">
      <Icon name="shield" size={16} />
      <Text size="sm">{texts.connections.sealed}</Text>
    </Group>
  );
}
