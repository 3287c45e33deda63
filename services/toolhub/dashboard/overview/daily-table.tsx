import { type Column, DataTable, Day } from '@libs/ui';
import { Button } from '@mantine/core';
import { texts } from '../texts.ts';
import { type DayOfCalls, everyDay, type Usage } from './usage.ts';

const words = texts.overview;

const columns: readonly Column<DayOfCalls>[] = [
  { header: words.day, render: ({ date }) => <Day day={date} /> },
  { header: words.succeeded, align: 'right', render: ({ calls }) => calls.toLocaleString() },
  { header: words.failed, align: 'right', render: ({ errors }) => errors.toLocaleString() },
];

/** What the bars show, for whoever cannot see them or wants the numbers; the newest day first. */
export function DailyTable({
  usage,
  isOpen,
  onToggle,
}: {
  usage: Usage;
  isOpen: boolean;
  onToggle: () => void;
}) {
  return (
    <>
      <Button size="compact-xs" variant="subtle" mt="xs" ml={-7} aria-expanded={isOpen} onClick={onToggle}>
        {isOpen ? words.hideNumbers : words.showNumbers}
      </Button>
      {isOpen ? (
        <DataTable
          label={words.daily}
          columns={columns}
          rows={everyDay(usage).reverse()}
          keyOf={({ date }) => date}
        />
      ) : null}
    </>
  );
}
