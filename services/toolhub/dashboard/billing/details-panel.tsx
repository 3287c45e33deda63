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
    send: async ({ company, address, tax_id: taxId }) => {
      const orNull = (text: string) => (text.trim() === '' ? null : text);
      await client.put(DETAILS_PATH, {
        ...{ company: orNull(company), address: orNull(address), tax_id: orNull(taxId) },
      });
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
