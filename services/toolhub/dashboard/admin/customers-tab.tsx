import {
  ActionButton,
  ApiFormView,
  type Column,
  ConfirmButton,
  Empty,
  Facts,
  FilterBar,
  ListPanel,
  QueryView,
  TextFilter,
  toast,
  useApiForm,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Group, Modal, NativeSelect, NumberInput, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Plan } from '../billing/invoice.ts';
import { texts } from '../texts.ts';
import { CustomerInvoices } from './customer-invoices.tsx';
import { operator, refresh, useList, useObject } from './operator.ts';

const words = texts.admin;
const CUSTOMERS_PATH = '/api/admin/customers';

interface Customer {
  id: string;
  email: string;
  name: string;
  plan: string;
  status: 'active' | 'suspended';
  created_at: string;
}

interface Details extends Customer {
  plan_state: { limit: number; used: number; monthly_calls: number | null };
  usage: { total: number };
}

export function CustomersTab() {
  const { values } = useSearchState();
  const query = useList<Customer>(CUSTOMERS_PATH, { email: values.email, cursor: values.cursor });
  const [shown, setShown] = useState<string>();
  return (
    <Stack>
      <FilterBar>
        <TextFilter name="email" label={words.wholeEmail} width={260} />
      </FilterBar>
      <ListPanel
        label={words.tabs.customers}
        query={query}
        columns={columnsWith(setShown)}
        keyOf={({ id }) => id}
        empty={<Empty icon="people" title={words.noCustomers} />}
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={words.customer}
        size="xl"
      >
        {shown === undefined ? null : <CustomerDetails id={shown} />}
      </Modal>
    </Stack>
  );
}

function columnsWith(show: (id: string) => void): Column<Customer>[] {
  return [
    { header: texts.fields.email, written: true, render: ({ email }) => <strong>{email}</strong> },
    { header: texts.fields.name, written: true, render: ({ name }) => name },
    { header: words.plan, render: ({ plan }) => plan },
    {
      header: words.status,
      render: ({ status }) => (
        <Badge color={status === 'active' ? 'teal' : 'red'}>{words.statuses[status]}</Badge>
      ),
    },
    { header: words.since, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
    {
      header: texts.common.actions,
      align: 'right',
      render: ({ id, email }) => (
        <Button size="xs" variant="default" onClick={() => show(id)} aria-label={`${words.open} ${email}`}>
          {words.open}
        </Button>
      ),
    },
  ];
}

function CustomerDetails({ id }: { id: string }) {
  const path = `${CUSTOMERS_PATH}/${id}`;
  const query = useObject<Details>(path);
  const act = async (verb: 'suspend' | 'resume') => {
    await operator.post(`${path}/${verb}`);
    await refresh(CUSTOMERS_PATH);
  };
  return (
    <QueryView query={query}>
      {(customer) => (
        <Stack>
          <Facts
            facts={[
              [texts.fields.email, customer.email],
              [words.plan, customer.plan],
              [words.used, words.usedOf(customer.plan_state.used, customer.plan_state.limit)],
              [words.status, words.statuses[customer.status]],
            ]}
          />
          <LimitForm path={path} limit={customer.plan_state.monthly_calls} />
          <PlanForm path={path} plan={customer.plan} />
          <CustomerInvoices path={path} />
          <Group justify="flex-end">
            {customer.status === 'active' ? (
              <ConfirmButton
                danger
                label={words.suspend}
                question={words.suspendQuestion}
                explanation={words.suspendHint}
                onConfirm={() => act('suspend')}
              />
            ) : (
              <ActionButton onAct={() => act('resume')}>{words.resume}</ActionButton>
            )}
          </Group>
        </Stack>
      )}
    </QueryView>
  );
}

function LimitForm({ path, limit }: { path: string; limit: number | null }) {
  const api = useApiForm({
    initialValues: { monthly_calls: (limit ?? '') as number | '' },
    isStored: true,
    send: async ({ monthly_calls: calls }) => {
      await operator.put(`${path}/limit`, { monthly_calls: calls === '' ? null : calls });
      await refresh(CUSTOMERS_PATH);
      toast.done(words.saved);
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.saveLimit} inline>
      <NumberInput
        label={words.limit}
        description={words.limitHint}
        min={0}
        allowDecimal={false}
        hideControls
        {...api.form.getInputProps('monthly_calls')}
      />
    </ApiFormView>
  );
}

function PlanForm({ path, plan }: { path: string; plan: string }) {
  const plans = useList<Plan>('/api/plans');
  const api = useApiForm({
    initialValues: { plan },
    isStored: true,
    send: async (values) => {
      await operator.put(`${path}/plan`, values);
      await refresh(CUSTOMERS_PATH);
      toast.done(words.saved);
    },
  });
  return (
    <ApiFormView api={api} submitLabel={words.savePlan} inline>
      <NativeSelect
        label={words.plan}
        data={(plans.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        {...api.form.getInputProps('plan')}
      />
    </ApiFormView>
  );
}
