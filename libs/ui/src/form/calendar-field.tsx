import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';

/** A year is typed digit by digit, and the browser tells of the years 2, 20 and 202 on the way to 2026. */
const isWhole = (text: string) => text === '' || Number(text.split('-')[0]) >= 1_000;

/**
 * A day or a month. What is typed is held here, and told when it is whole: a value that comes back from the address a
 * moment later would begin the year anew at every digit.
 */
export function CalendarField(props: {
  type: 'date' | 'month';
  label: string;
  width: number;
  value: string;
  onChange: (value: string | undefined) => void;
}) {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  return (
    <TextInput
      type={props.type}
      label={props.label}
      w={props.width}
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value);
        if (isWhole(value)) props.onChange(value === '' ? undefined : value);
      }}
    />
  );
}
