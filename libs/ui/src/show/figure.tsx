import { Paper, Text } from '@mantine/core';
import type { CSSProperties } from 'react';

/** A number that matters, with its name: as large as its panel has room for, since a sum of money may have many digits. */
export function Figure({ label, value }: { label: string; value: string }) {
  return (
    <Paper className="ui-panel" p={{ base: 'sm', sm: 'md' }}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <div className="ui-figure">
        <span className="ui-number" style={{ '--ui-letters': value.length } as CSSProperties}>
          {value}
        </span>
      </div>
    </Paper>
  );
}
