import { When } from '@libs/ui';
import { Text } from '@mantine/core';
import { texts } from '../texts.ts';
import type { Attempt } from './webhook.ts';

const words = texts.webhooks;
const byTime = (one: Attempt, other: Attempt) => Date.parse(one.at) - Date.parse(other.at);

/** What came back, try by try from the first one on. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return <Text size="sm">{words.noAttempt}</Text>;
  return (
    <ol className="ui-attempts">
      {attempts.toSorted(byTime).map((attempt) => (
        <li key={attempt.at}>
          <When at={attempt.at} />: {attempt.status ?? attempt.error ?? '–'} ({attempt.duration_ms} ms)
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
