import { ApiFormView, formatAmount, parseAmount, toast, useApiForm } from '@libs/ui';
import { TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import type { PlanState } from '../overview/usage.ts';
import { texts } from '../texts.ts';

const words = texts.billing;

export function CapForm({ state }: { state: PlanState }) {
  const api = useApiForm({
    initialValues: { cap: state.spend_cap_cents === null ? '' : formatAmount(state.spend_cap_cents) },
    validate: {
      cap: (text: string) => (text.trim() === '' || parseAmount(text) !== undefined ? null : words.capWrong),
    },
    fieldNames: { spend_cap_cents: 'cap' },
    send: async ({ cap }) => {
      const cents = cap.trim() === '' ? null : parseAmount(cap);
      // The plan of now: another window may have changed it since this one read it.
      const { plan } = await client.get<PlanState>('/api/plan');
      await client.put('/api/plan', { plan, spend_cap_cents: cents });
      await refresh('/api/plan');
      toast.done(words.changed);
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.saveCap} inline>
      <TextInput
        label={words.capLabel}
        placeholder={words.noCap}
        inputMode="decimal"
        {...api.form.getInputProps('cap')}
      />
    </ApiFormView>
  );
}
