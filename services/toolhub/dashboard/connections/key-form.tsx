import { ApiError, RestoredNote, SubmitButton, useDraft } from '@libs/ui';
import { Alert, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { texts } from '../texts.ts';
import { type Field, fieldAt, fieldsOf, type Typed, valuesOf } from '../tools/schema.ts';
import { halfFilledErrors, SchemaFields } from '../tools/schema-fields.tsx';
import type { Platform } from './platforms.ts';
import { SealedNote } from './sealed-note.tsx';
import { storeCredential } from './store-credential.ts';

const words = texts.connections;
const SECRET = /token|password|secret/;

export function KeyForm({ platform }: { platform: Platform }) {
  const fields = fieldsOf(platform.credential_schema).filter(({ kind }) => kind !== 'json');
  const draft = useDraft({
    name: 'credential',
    current: () => (Object.keys(typed).length === 0 ? undefined : typed),
  }) as Typed | undefined;
  const [typed, setTyped] = useState<Typed>(draft ?? {});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<{ error: unknown; others: readonly string[] }>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const half = halfFilledErrors(event.currentTarget);
    setErrors(half);
    setProblem(undefined);
    if (Object.keys(half).length > 0) return;
    setBusy(true);
    try {
      await storeCredential(platform.platform, valuesOf(fields, typed));
      setTyped({});
    } catch (error) {
      const { shown, others } = placed(error, fields);
      setErrors(shown);
      if (others.length > 0 || Object.keys(shown).length === 0) setProblem({ error, others });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack>
        {draft === undefined || Object.keys(typed).length === 0 ? null : <RestoredNote />}
        {problem === undefined ? null : <Refusal {...problem} />}
        <SchemaFields
          fields={fields}
          typed={typed}
          errors={errors}
          onType={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
          secret={(name) => SECRET.test(name)}
        />
        <Group justify="space-between">
          <SealedNote />
          <SubmitButton sending={busy}>{words.test}</SubmitButton>
        </Group>
      </Stack>
    </form>
  );
}

function Refusal({ error, others }: { error: unknown; others: readonly string[] }) {
  return (
    <Alert color="red" role="alert" title={error instanceof ApiError ? error.title : words.notStored}>
      {error instanceof ApiError ? error.message : words.notReached}
      {others.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </Alert>
  );
}

/** What is about a field of the form, by its name, and what is about none of them. */
function placed(
  error: unknown,
  fields: readonly Field[],
): { shown: Record<string, string>; others: readonly string[] } {
  const shown: Record<string, string> = {};
  const others: string[] = [];
  for (const { pointer = '', detail } of error instanceof ApiError ? error.fields : []) {
    const name = fieldAt(pointer, fields);
    if (name !== undefined) shown[name] = detail;
    else others.push(pointer === '' ? detail : `${pointer.slice(1)}: ${detail}`);
  }
  return { shown, others };
}
