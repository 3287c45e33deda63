import { ApiError, SubmitButton } from '@libs/ui';
import { Alert, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { texts } from '../texts.ts';
import { fieldsOf, type Typed, valuesOf } from '../tools/schema.ts';
import { SchemaFields } from '../tools/schema-fields.tsx';
import type { Platform } from './platforms.ts';
import { SealedNote } from './sealed-note.tsx';
import { storeCredential } from './store-credential.ts';

const words = texts.connections;
const SECRET = /token|password|secret/;

export function KeyForm({ platform }: { platform: Platform }) {
  const fields = fieldsOf(platform.credential_schema).filter(({ kind }) => kind !== 'json');
  const [typed, setTyped] = useState<Typed>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setErrors({});
    setProblem(undefined);
    try {
      await storeCredential(platform.platform, valuesOf(fields, typed));
      setTyped({});
    } catch (error) {
      const atFields = fieldErrors(error);
      setErrors(atFields);
      if (Object.keys(atFields).length === 0) setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack>
        {problem === undefined ? null : <Refusal error={problem} />}
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

function Refusal({ error }: { error: unknown }) {
  return (
    <Alert color="red" role="alert" title={error instanceof ApiError ? error.title : words.notStored}>
      {error instanceof ApiError ? error.message : words.notReached}
    </Alert>
  );
}

function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.fields.map(({ pointer = '', detail }) => [pointer.split('/')[1] ?? '', detail]),
  );
}
