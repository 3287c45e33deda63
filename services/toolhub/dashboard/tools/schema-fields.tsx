import { halfFilled, viewersZone } from '@libs/ui';
import { Checkbox, NumberInput, PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import { useEffect, useId } from 'react';
import { texts } from '../texts.ts';
import type { Field, FieldKind, Typed } from './schema.ts';

const words = texts.tools;

export interface SchemaFieldsProps {
  fields: readonly Field[];
  typed: Typed;
  /** What is wrong with a field, by its name. */
  errors: Readonly<Record<string, string>>;
  onType: (name: string, value: string | boolean) => void;
  /** Fields whose text nobody should read over a shoulder. */
  secret?: (name: string) => boolean;
}

/** What is said of the fields that hold only a part of their value, by their names. */
export const halfFilledErrors = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries(halfFilled(form).map(({ field, words }) => [field.name, words]));

/** One input per property of a schema, with the schema's own words as help; the first that was refused gets the focus. */
export function SchemaFields(props: SchemaFieldsProps) {
  const { fields, errors } = props;
  const form = useId();
  useEffect(() => {
    if (Object.keys(errors).length === 0) return;
    document.querySelector<HTMLElement>(`[id^="${form}"][aria-invalid="true"]`)?.focus();
  }, [errors, form]);
  return fields.map((field) => (
    <SchemaField key={field.name} field={field} id={`${form}-${field.name}`} {...props} />
  ));
}

function SchemaField(props: SchemaFieldsProps & { field: Field; id: string }) {
  const { field, id, typed, errors, onType, secret } = props;
  const { name, kind, schema, required } = field;
  const shared = {
    label: labelOf(name),
    description: [required ? '' : words.optional, schema.description?.replaceAll('`', ''), hintOf(kind)]
      .filter(Boolean)
      .join(' '),
    required,
    error: errors[name] ?? null,
    // Not every component of the library says by itself to a screen reader that its field was refused.
    'aria-invalid': name in errors ? true : undefined,
    name,
    id,
  };
  const text = String(typed[name] ?? '');
  const type = (event: { currentTarget: { value: string } }) => onType(name, event.currentTarget.value);
  switch (kind) {
    case 'boolean':
      return (
        <Checkbox
          {...shared}
          checked={typed[name] === true}
          onChange={(event) => onType(name, event.currentTarget.checked)}
        />
      );
    case 'choice':
      return (
        <Select
          {...shared}
          data={field.choices}
          value={text === '' ? null : text}
          onChange={(value) => onType(name, value ?? '')}
          clearable={!required}
        />
      );
    case 'number':
      return <NumberInput {...shared} value={text} onChange={(value) => onType(name, String(value))} />;
    case 'moment':
      return <TextInput {...shared} type="datetime-local" value={text} onChange={type} />;
    case 'text':
      return secret?.(name) === true ? (
        <PasswordInput {...shared} value={text} onChange={type} autoComplete="off" />
      ) : (
        <TextInput {...shared} value={text} onChange={type} autoComplete="off" />
      );
    default:
      return <Textarea {...shared} value={text} onChange={type} autosize minRows={2} maxRows={12} />;
  }
}

/** How it is typed, where that is not plain. */
function hintOf(kind: FieldKind): string {
  if (kind === 'lines') return words.onePerLine;
  if (kind === 'moment') return words.yourTime(viewersZone);
  return kind === 'json' ? words.asJson : '';
}

/** `phone_number_id` as people write it: "Phone number ID". */
function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').replaceAll(/\b(url|id)\b/g, (short) => short.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
