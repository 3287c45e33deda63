import { ApiFormView, formatAmount, parseAmount, toast, useApiForm } from '@libs/ui';
import { Checkbox, NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import type { Plan } from '../billing/invoice.ts';
import { texts } from '../texts.ts';
import { operator, refresh } from './operator.ts';

const words = texts.admin;
const PLANS_PATH = '/api/plans';

const isAmount = (text: string) => (parseAmount(text) === undefined ? texts.billing.capWrong : null);

interface PlanValues {
  id: string;
  name: string;
  price: string;
  included_calls: number | '';
  overage: string;
  hard_stop: boolean;
}

/** As the API names them; of what is changed, where not all of it is given. */
const termsOf = ({ id: _, price, included_calls: calls, overage, ...rest }: Partial<PlanValues>) => ({
  ...rest,
  ...(price !== undefined && { price_cents: parseAmount(price) }),
  ...(calls !== undefined && { included_calls: Number(calls) }),
  ...(overage !== undefined && { overage_cents_per_1000: parseAmount(overage) }),
});

/** What is stored at this moment: all terms are sent at once, and another window may have changed the others. */
async function storedTerms(plan: string): Promise<Partial<Plan>> {
  const { data } = await operator.get<{ data: Plan[] }>(PLANS_PATH);
  const { id: _, ...terms } = data.find(({ id }) => id === plan) ?? { id: plan };
  return terms;
}

/** Makes a plan where none is given. */
export function PlanForm({ plan, onDone }: { plan: Plan | undefined; onDone: () => void }) {
  const api = useApiForm<PlanValues>({
    initialValues: {
      id: plan?.id ?? '',
      name: plan?.name ?? '',
      price: formatAmount(plan?.price_cents ?? 0),
      included_calls: plan?.included_calls ?? 0,
      overage: formatAmount(plan?.overage_cents_per_1000 ?? 0),
      hard_stop: plan?.hard_stop ?? false,
    },
    validate: {
      id: (id: string) => (/^[a-z][a-z0-9_-]{0,39}$/.test(id) ? null : words.planIdWrong),
      price: isAmount,
      // A field that was emptied would be none at all, and stop everybody where the plan stops there.
      included_calls: (calls: number | '') => (calls === '' ? words.includedCallsWrong : null),
      overage: isAmount,
    },
    fieldNames: { price_cents: 'price', overage_cents_per_1000: 'overage' },
    isStored: plan !== undefined,
    send: async (values, _idempotencyKey, changed) => {
      const terms =
        plan === undefined ? termsOf(values) : { ...(await storedTerms(plan.id)), ...termsOf(changed) };
      await operator.put(`/api/admin/plans/${values.id}`, terms);
      await refresh(PLANS_PATH);
      toast.done(words.saved);
      onDone();
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.savePlanTerms}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput label={texts.fields.name} required {...api.form.getInputProps('name')} />
        <TextInput
          label={words.planId}
          description={words.planIdHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          required
          disabled={plan !== undefined}
          {...api.form.getInputProps('id')}
        />
        <TextInput label={words.price} inputMode="decimal" required {...api.form.getInputProps('price')} />
        <NumberInput
          label={words.includedCalls}
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          hideControls
          required
          {...api.form.getInputProps('included_calls')}
        />
      </SimpleGrid>
      <Checkbox
        label={words.stopsThere}
        description={words.stopsThereHint}
        {...api.form.getInputProps('hard_stop', { type: 'checkbox' })}
      />
      <TextInput
        label={words.overage}
        inputMode="decimal"
        disabled={api.form.values.hard_stop}
        {...api.form.getInputProps('overage')}
      />
    </ApiFormView>
  );
}
