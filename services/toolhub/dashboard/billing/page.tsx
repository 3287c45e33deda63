import {
  type Column,
  Day,
  Empty,
  formatAmount,
  ListView,
  Page,
  Panel,
  QueryView,
  useSearchState,
} from '@libs/ui';
import { Anchor, SimpleGrid, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { FOLLOW_MS, useList, useObject } from '../api/client.ts';
import { QuotaBar } from '../overview/quota.tsx';
import { usePlan } from '../overview/usage.ts';
import { texts } from '../texts.ts';
import { CapForm } from './cap-form.tsx';
import { DetailsPanel } from './details-panel.tsx';
import { INVOICES_PATH, type Invoice, monthName, type Plan } from './invoice.ts';
import { InvoiceActions, InvoiceBadge, OneInvoice } from './one-invoice.tsx';
import { PaymentPanel } from './payment-panel.tsx';
import { PlanChoice } from './plan-choice.tsx';

const words = texts.billing;

export function BillingPage() {
  const { invoice } = useSearchState().values;
  return invoice === undefined ? <Billing /> : <OneInvoice id={invoice} />;
}

function Billing() {
  const plan = usePlan();
  const plans = useObject<{ data: Plan[] }>('/api/plans');
  return (
    <Page title={words.title}>
      <Stack gap="lg">
        <Panel title={words.usage}>
          <QueryView query={plan}>{(state) => <QuotaBar plan={state} />}</QueryView>
        </Panel>
        <Panel title={words.plans} lead={words.plansLead}>
          <QueryView query={plans}>
            {({ data }) => (
              <QueryView query={plan}>{(state) => <PlanChoice plans={data} state={state} />}</QueryView>
            )}
          </QueryView>
        </Panel>
        <Panel title={words.cap} lead={words.capLead}>
          <QueryView query={plan}>
            {(state) => <CapForm state={state} plan={plans.data?.data.find(({ id }) => id === state.plan)} />}
          </QueryView>
        </Panel>
        <Invoices />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <DetailsPanel />
          <PaymentPanel />
        </SimpleGrid>
      </Stack>
    </Page>
  );
}

const columns: readonly Column<Invoice>[] = [
  {
    header: words.number,
    render: ({ id, number }) => (
      <Anchor component={Link} to="/billing" search={{ invoice: id } as never} fw={650} size="sm">
        {number}
      </Anchor>
    ),
  },
  { header: words.period, render: ({ period }) => monthName(period) },
  {
    header: words.status,
    render: ({ status }) => <InvoiceBadge status={status} />,
  },
  { header: words.issued, align: 'right', render: ({ issued_at: at }) => <Day day={at} /> },
  {
    header: words.total,
    align: 'right',
    render: ({ total_cents: total, currency }) => (
      <span className="ui-number">{formatAmount(total, currency)}</span>
    ),
  },
  {
    header: texts.common.actions,
    align: 'right',
    render: (invoice) => <InvoiceActions invoice={invoice} />,
  },
];

function Invoices() {
  const { values } = useSearchState();
  const query = useList<Invoice>(INVOICES_PATH, { cursor: values.cursor }, { refetchMs: () => FOLLOW_MS });
  return (
    <Panel title={words.invoices} lead={words.invoicesLead} flush>
      <ListView
        label={words.invoices}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="book" title={words.noInvoices} next={words.noInvoicesNext} />}
      />
    </Panel>
  );
}
