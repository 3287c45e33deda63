import { ApiFormView, Coded, fromClockField, useApiForm, viewersZone } from '@libs/ui';
import { Checkbox, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { scopes } from '../../src/keys/key.ts';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';
import { type ApiKey, type ApiKeyWithToken, KEYS_PATH } from './key.ts';

const words = texts.keys;

export function NewKeyForm({ onDone }: { onDone: (token: string) => void }) {
  const api = useApiForm({
    initialValues: { name: '', scopes: [...scopes] as string[], expires_at: '' },
    // A year of five digits is a whole value to the browser, and no moment: that key would never expire.
    validate: {
      expires_at: (text: string) =>
        text !== '' && fromClockField(text) === undefined ? texts.sandbox.notATime : null,
    },
    send: async (values, idempotencyKey) => {
      const expiresAt = fromClockField(values.expires_at);
      const body = {
        ...(values.name.trim() === '' ? {} : { name: values.name.trim() }),
        ...(values.scopes.length === scopes.length ? {} : { scopes: values.scopes }),
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
      };
      const { key } = await client.post<ApiKeyWithToken>(KEYS_PATH, body, { idempotencyKey });
      await refresh(KEYS_PATH);
      onDone(key);
    },
  });
  const { form } = api;
  return (
    <ApiFormView api={api} submitLabel={words.create}>
      <TextInput label={words.name} data-autofocus {...form.getInputProps('name')} />
      <Checkbox.Group
        label={words.restrict}
        description={words.restrictHint}
        {...form.getInputProps('scopes')}
      >
        <SimpleGrid cols={{ base: 1, xs: 2 }} mt="xs" spacing="xs">
          {scopes.map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              label={<Coded code={scope} words={words.scopeNames[scope]} />}
            />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <TextInput
        type="datetime-local"
        label={words.expires}
        description={words.expiresHint(viewersZone)}
        {...form.getInputProps('expires_at')}
      />
    </ApiFormView>
  );
}

export function RollKeyForm({ apiKey, onDone }: { apiKey: ApiKey; onDone: (token: string) => void }) {
  const api = useApiForm({
    initialValues: { overlap: '86400' },
    send: async ({ overlap }, idempotencyKey) => {
      const body = { overlap_seconds: Number(overlap) };
      const path = `${KEYS_PATH}/${apiKey.id}/roll`;
      const { key } = await client.post<ApiKeyWithToken>(path, body, { idempotencyKey });
      await refresh(KEYS_PATH);
      onDone(key);
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.roll}>
      <Radio.Group label={words.overlap} description={words.rollHint} {...api.form.getInputProps('overlap')}>
        <Stack gap="xs" mt="xs">
          {Object.entries(words.overlaps).map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
    </ApiFormView>
  );
}
