/** The part of JSON Schema that forms are made of. */
export interface Schema {
  type?: string;
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  format?: string;
  default?: unknown;
}

export type FieldKind = 'text' | 'long_text' | 'moment' | 'number' | 'boolean' | 'choice' | 'lines' | 'json';

export interface Field {
  name: string;
  schema: Schema;
  kind: FieldKind;
  required: boolean;
  choices: string[];
}

const LONG_TEXT = 300;

export function fieldsOf(schema: Schema): Field[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {})
    .map(([name, each]) => ({
      name,
      schema: each,
      kind: kindOf(each),
      required: required.has(name),
      choices: choicesOf(each),
    }))
    .sort((a, b) => Number(b.required) - Number(a.required));
}

/** The name of the field that a pointer into the values leads to or into, if the form has it. */
export function fieldAt(pointer: string, fields: readonly Field[]): string | undefined {
  const name = pointer.split('/')[1] ?? '';
  return fields.find((field) => field.name === name)?.name;
}

/** Of a union of constants, or of an enumeration, what can be chosen. */
function choicesOf({ enum: values, anyOf }: Schema): string[] {
  const constants = values ?? anyOf?.map((each) => each.const);
  return constants?.every((value) => typeof value === 'string') ? (constants as string[]) : [];
}

function kindOf(schema: Schema): FieldKind {
  if (choicesOf(schema).length > 0) return 'choice';
  switch (schema.type) {
    case 'string':
      if (schema.format === 'date-time') return 'moment';
      return (schema.maxLength ?? 0) > LONG_TEXT ? 'long_text' : 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.items?.type === 'string' ? 'lines' : 'json';
    default:
      return 'json';
  }
}

export type Typed = Record<string, string | boolean>;

export class NotJson extends Error {
  readonly field: string;

  constructor(field: string) {
    super(`${field} is no JSON`);
    this.field = field;
  }
}

/** What was typed, as the arguments of a call: what was left empty is left out. */
export function valuesOf(fields: readonly Field[], typed: Typed): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, kind, required } of fields) {
    const value = typed[name];
    if (typeof value === 'boolean') {
      if (value || required) values[name] = value;
    } else if (value !== undefined && value.trim() !== '') values[name] = parseTyped(name, kind, value);
  }
  return values;
}

function parseTyped(name: string, kind: FieldKind, text: string): unknown {
  if (kind === 'number') return Number(text);
  if (kind === 'moment') return momentOf(text);
  if (kind === 'lines')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  if (kind !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NotJson(name);
  }
}

/** The viewer's wall clock as a moment; what is none stays as it was typed, and is refused at its field. */
function momentOf(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
