import { When } from '@libs/ui';
import { Text } from '@mantine/core';
import { texts } from '../texts.ts';
import type { Attempt } from './webhook.ts';

const words = texts.webhooks;
const byTime = (one: Attempt, other: Attempt) => Date.parse(one.at) - Date.parse(other.at);

/** What came back, try by try from the first one on. A dialog has no page around it that says the zone. */
export function Attempts({
  attempts,
  withZone = false,
}: {
  attempts: readonly Attempt[];
  withZone?: boolean;
}) {
  if (attempts.length === 0) return <Text size="sm">{words.noAttempt}</Text>;
  return (
    <ol className="ui-attempts">
      {attempts.toSorted(byTime).map((attempt) => (
        <li key={attempt.at}>
          <When at={attempt.at} withZone={withZone} />: {attempt.status ?? attempt.error ?? '–'}{' '}
          <span className="ui-together">({attempt.duration_ms} ms)</span>
          {attempt.response === undefined ? null : (
            <Text size="xs" c="dimmed" className="ui-id">
              {attempt.response}
            </Text>
          )}
        </li>
      ))}
    </ol>
  );
}
