import { explainSchema } from '@libs/http';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ObjectSchema } from './tool.ts';

export interface ArgumentFault {
  pointer: string;
  code: string;
  detail: string;
}

export type CheckedArguments =
  | { kind: 'valid'; values: Record<string, unknown> }
  | { kind: 'invalid'; faults: ArgumentFault[] };

export type CheckArguments = (values: Record<string, unknown>) => CheckedArguments;

/** Enough to go on with; each bears keys of the caller's, and an answer has it twice. */
export const FAULTS_MAX = 20;

/** Compiled once per schema; a value that fits costs one pass, one that does not is explained by pointers. */
export function compileArguments(schema: ObjectSchema): CheckArguments {
  const validator = Compile(schema as unknown as TSchema);
  const defaults = Object.entries(schema.properties).flatMap(([name, property]) =>
    property.default === undefined ? [] : [[name, property.default] as const],
  );
  return (values) => {
    if (!validator.Check(values)) {
      const faults = explainSchema(schema, values, FAULTS_MAX);
      return { kind: 'invalid', faults: faults.length > 0 ? faults : [UNEXPLAINED] };
    }
    const complete = { ...values };
    for (const [name, value] of defaults)
      if (complete[name] === undefined) complete[name] = structuredClone(value);
    return { kind: 'valid', values: complete };
  };
}

const UNEXPLAINED: ArgumentFault = {
  pointer: '',
  code: 'invalid',
  detail: 'Does not fit the schema of this tool.',
};
