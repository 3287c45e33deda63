import { Facts, JsonBlock, withUnseenMarked } from '@libs/ui';
import { Button, List, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { texts } from '../texts.ts';

const words = texts.approvals;
const DEPTH_MAX = 4;

/** `in_reply_to_id` is “In reply to id”. */
function wordsOf(name: string): string {
  const text = name.replaceAll('_', ' ').trim();
  return text === '' ? name : `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}

/** As somebody reads it who never saw JSON; nothing is left out. */
function Value({ value, depth = 0 }: { value: unknown; depth?: number }): ReactNode {
  if (typeof value === 'string')
    return (
      <span style={{ whiteSpace: 'pre-wrap', unicodeBidi: 'isolate' }}>
        {value === '' ? words.empty : withUnseenMarked(value)}
      </span>
    );
  if (value === null) return words.empty;
  if (typeof value === 'boolean') return value ? texts.tools.yes : texts.tools.no;
  if (typeof value !== 'object' || depth >= DEPTH_MAX) return withUnseenMarked(JSON.stringify(value));
  if (Array.isArray(value))
    return value.length === 0 ? (
      words.empty
    ) : (
      <List size="sm">
        {value.map((each, index) => (
          <List.Item key={index}>
            <Value value={each} depth={depth + 1} />
          </List.Item>
        ))}
      </List>
    );
  return (
    <Facts
      facts={Object.entries(value).map(([name, each]) => [
        withUnseenMarked(wordsOf(name)),
        <Value key={name} value={each} depth={depth + 1} />,
      ])}
    />
  );
}

/** What would be sent, as a list to read, and to the letter for whoever wants that. */
export function Arguments({ value }: { value: Record<string, unknown> }) {
  const [asJson, setAsJson] = useState(false);
  return (
    <Stack gap="xs" align="stretch">
      {Object.keys(value).length === 0 ? <Text size="sm">{words.noArguments}</Text> : <Value value={value} />}
      <div>
        <Button
          size="compact-xs"
          variant="subtle"
          ml={-7}
          aria-expanded={asJson}
          onClick={() => setAsJson((before) => !before)}
        >
          {asJson ? words.hideJson : words.showJson}
        </Button>
      </div>
      {asJson ? <JsonBlock value={value} label={words.arguments} /> : null}
    </Stack>
  );
}
