import { ApiFormView, formatAmount, parseAmount, toast, useApiForm } from '@libs/ui';
import { Alert, Stack, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import type { PlanState } from '../overview/usage.ts';
import { texts } from '../texts.ts';
import { isCapBelow, type Plan } from './invoice.ts';

const words = texts.billing;

export function CapForm({ state, plan }: { state: PlanState; plan: Plan | undefined }) {
  const isBelowPrice = plan !== undefined && isCapBelow(state, plan);
  const api = useApiForm({
    initialValues: { cap: state.spend_cap_cents === null ? '' : formatAmount(state.spend_cap_cents) },
    validate: {
      cap: (text: string) => (text.trim() === '' || parseAmount(text) !== undefined ? null : words.capWrong),
    },
    fieldNames: { spend_cap_cents: 'cap' },
    isStored: true,
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
    <Stack gap="sm">
      {isBelowPrice ? (
        <Alert color="yellow" role="note">
          {words.capBelowPrice(plan.name, formatAmount(plan.price_cents))}
        </Alert>
      ) : null}
      <ApiFormView api={api} submitLabel={words.saveCap} inline>
        <TextInput
          label={words.capLabel}
          placeholder={words.noCap}
          inputMode="decimal"
          {...api.form.getInputProps('cap')}
        />
      </ApiFormView>
    </Stack>
  );
}
