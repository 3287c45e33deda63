import { ApiFormView, Panel, QueryView, toast, useApiForm } from '@libs/ui';
import { SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { client, refresh, useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import { type BillingDetails, DETAILS_PATH } from './invoice.ts';

const words = texts.billing;

/** What stands on invoices from now on: the customer's side of them. */
export function DetailsPanel() {
  const query = useObject<BillingDetails>(DETAILS_PATH);
  return (
    <Panel title={words.details} lead={words.detailsLead}>
      <QueryView query={query}>{(details) => <DetailsForm details={details} />}</QueryView>
    </Panel>
  );
}

function DetailsForm({ details }: { details: BillingDetails }) {
  const api = useApiForm({
    initialValues: {
      company: details.company ?? '',
      address: details.address ?? '',
      tax_id: details.tax_id ?? '',
    },
    isStored: true,
    send: async (_values, _idempotencyKey, changed) => {
      // The rest as it is now: another window may have changed it since this one read it.
      const { company, address, tax_id } = await client.get<BillingDetails>(DETAILS_PATH);
      const orNull = (text: string) => (text.trim() === '' ? null : text);
      const texts = Object.entries(changed).map(([name, text]) => [name, orNull(text)]);
      await client.put(DETAILS_PATH, { company, address, tax_id, ...Object.fromEntries(texts) });
      await refresh(DETAILS_PATH);
      toast.done(words.detailsSaved);
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.saveDetails}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Stack>
          <TextInput
            label={words.company}
            description={words.companyHint}
            autoComplete="organization"
            {...api.form.getInputProps('company')}
          />
          <TextInput
            label={words.taxId}
            description={words.taxIdHint}
            {...api.form.getInputProps('tax_id')}
          />
        </Stack>
        <Textarea
          label={words.address}
          description={words.addressHint}
          autoComplete="street-address"
          autosize
          minRows={4}
          maxRows={8}
          {...api.form.getInputProps('address')}
        />
      </SimpleGrid>
    </ApiFormView>
  );
}
