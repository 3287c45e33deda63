import { Button, Group, Select, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CalendarField } from '../form/calendar-field.tsx';
import { texts } from '../texts.ts';
import { dayOf, startOf } from './days.ts';
import { useSearchState } from './search.ts';

const ALL = '';

export function FilterBar({ children }: { children: ReactNode }) {
  const search = useSearchState();
  const isFiltered = Object.entries(search.values).some(
    ([name, value]) => name !== 'cursor' && name !== 'tab' && value,
  );
  const bar = useRef<HTMLDivElement>(null);
  return (
    <Group ref={bar} gap="sm" align="flex-end" wrap="wrap" className="ui-filters">
      {children}
      {isFiltered ? (
        <Button
          variant="subtle"
          size="sm"
          onClick={() => {
            // The button goes with what it clears.
            bar.current?.querySelector('input')?.focus({ preventScroll: true });
            search.clear();
          }}
        >
          {texts.clearFilters}
        </Button>
      ) : null}
    </Group>
  );
}

export function ChoiceFilter(props: {
  name: string;
  label: string;
  choices: readonly { value: string; label: string }[];
  width?: number;
}) {
  const search = useSearchState();
  return (
    <Select
      label={props.label}
      w={props.width ?? 170}
      data={[{ value: ALL, label: texts.noFilter }, ...props.choices]}
      value={search.values[props.name] ?? ALL}
      onChange={(value) => search.set({ [props.name]: value === ALL ? undefined : (value ?? undefined) })}
    />
  );
}

/** Applied by Enter or when it loses the focus: each letter would be a request. */
export function TextFilter(props: { name: string; label: string; placeholder?: string; width?: number }) {
  const search = useSearchState();
  const current = search.values[props.name] ?? '';
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  const apply = () => {
    if (text !== current) search.set({ [props.name]: text.trim() === '' ? undefined : text.trim() });
  };
  return (
    <TextInput
      label={props.label}
      w={props.width ?? 200}
      value={text}
      {...(props.placeholder === undefined ? {} : { placeholder: props.placeholder })}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply();
      }}
    />
  );
}

/** A day of the server's calendar, which the address holds as it is. */
export function DayFilter({ name, label }: { name: string; label: string }) {
  const search = useSearchState();
  return (
    <CalendarField
      type="date"
      label={label}
      width={150}
      value={search.values[name] ?? ''}
      onChange={(day) => search.set({ [name]: day })}
    />
  );
}

/** Days of the viewer; the address holds the moments at which they begin. */
export function DateRangeFilter({ after, before }: { after: string; before: string }) {
  const search = useSearchState();
  return (
    <>
      <DayInput
        label={texts.from}
        value={search.values[after]}
        onChange={(value) => search.set({ [after]: value })}
        shiftDays={0}
      />
      <DayInput
        label={texts.until}
        value={search.values[before]}
        onChange={(value) => search.set({ [before]: value })}
        shiftDays={1}
      />
    </>
  );
}

function DayInput(props: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** The last day of a range ends where the next one begins. */
  shiftDays: number;
}) {
  return (
    <CalendarField
      type="date"
      label={props.label}
      width={140}
      value={props.value === undefined ? '' : dayOf(props.value, -props.shiftDays)}
      onChange={(day) => props.onChange(day && startOf(day, props.shiftDays))}
    />
  );
}
