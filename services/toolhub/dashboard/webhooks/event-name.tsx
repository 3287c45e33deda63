import { breakable } from '@libs/ui';
import { Text } from '@mantine/core';
import type { EventType } from '../../src/events/event.ts';
import { texts } from '../texts.ts';

export const eventWords = (type: string): string => texts.events[type as EventType] ?? type;

/** What happened in words, and the name that programs know it by. */
export function EventName({ type }: { type: string }) {
  return (
    <div>
      <strong>{eventWords(type)}</strong>
      <Text size="xs" c="dimmed" className="ui-id" fw={400}>
        {breakable(type)}
      </Text>
    </div>
  );
}
