import { Badge } from '@mantine/core';
import { texts } from '../texts.ts';
import type { ToolClass } from './tool.ts';

const colors: Record<ToolClass, string> = { R: 'teal', W: 'blue', I: 'grape', U: 'orange', D: 'red' };

/** What a tool does to the account. */
export function ClassBadge({ value }: { value: ToolClass }) {
  return <Badge color={colors[value]}>{texts.toolClasses[value]}</Badge>;
}
