import { ApiFormView, toast, useApiForm } from '@libs/ui';
import { Group, SegmentedControl, Select, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';

const words = texts.methods;

const choicesOf = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

export function AddMethodForm({ onDone }: { onDone: () => void }) {
  const api = useApiForm({
    initialValues: {
      type: 'bank_account',
      bank_account: {
        routing_number: '',
        account_number: '',
        account_type: 'checking',
        holder_name: '',
        holder_type: 'business',
      },
    },
    send: async ({ type, bank_account: bank }, idempotencyKey) => {
      const body = type === 'balance' ? { type } : { type, bank_account: bank };
      await client.post('/v1/payment_methods', body, { idempotencyKey });
      await refresh('/v1/payment_methods');
      toast.done(words.added);
      onDone();
    },
  });
  const { form } = api;
  return (
    <ApiFormView api={api} submitLabel={words.submit}>
      <SegmentedControl
        fullWidth
        aria-label={words.type}
        data={choicesOf(words.types)}
        {...form.getInputProps('type')}
      />
      {form.values.type === 'balance' ? null : (
        <>
          <TextInput
            label={words.holder}
            required
            data-autofocus
            {...form.getInputProps('bank_account.holder_name')}
          />
          <Group grow align="flex-start">
            <TextInput
              label={words.routing}
              inputMode="numeric"
              placeholder="021000021"
              required
              {...form.getInputProps('bank_account.routing_number')}
            />
            <TextInput label={words.number} required {...form.getInputProps('bank_account.account_number')} />
          </Group>
          <Group grow align="flex-start">
            <Select
              label={words.accountType}
              data={choicesOf(words.accountTypes)}
              {...form.getInputProps('bank_account.account_type')}
            />
            <Select
              label={words.holderType}
              data={choicesOf(words.holderTypes)}
              {...form.getInputProps('bank_account.holder_type')}
            />
          </Group>
        </>
      )}
    </ApiFormView>
  );
}
