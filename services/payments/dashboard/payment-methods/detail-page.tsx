import {
  Amount,
  ApiFormView,
  ConfirmButton,
  CopyText,
  EmptyNote,
  Facts,
  Page,
  PagedTable,
  Panel,
  parseAmount,
  QueryView,
  toast,
  useApiForm,
  usePlace,
  When,
} from '@libs/ui';
import { Button, Modal, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { client, refresh, useList, useObject } from '../api/client.ts';
import { mode } from '../api/mode.ts';
import type { Payment, PaymentMethod } from '../api/types.ts';
import { paymentColumns } from '../payments/columns.tsx';
import { wordsOfRefusal } from '../payments/refusal-words.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { accountOf, nameOf, railsOf } from './method.tsx';

const words = texts.methods;

export function PaymentMethodPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useObject<PaymentMethod>(`/v1/payment_methods/${encodeURIComponent(id)}`);
  const rights = useRights();
  return (
    <Page
      title={query.data === undefined ? words.id : nameOf(query.data)}
      lead={<span className="ui-id">{id}</span>}
      actions={query.data !== undefined && rights.write ? <MethodActions method={query.data} /> : null}
    >
      <QueryView query={query}>{(method) => <MethodView method={method} />}</QueryView>
    </Page>
  );
}

function MethodView({ method }: { method: PaymentMethod }) {
  const { balance, bank_account: bank } = method;
  const place = usePlace();
  const payments = useList<Payment>('/v1/payments', { payment_method: method.id, cursor: place.cursor });
  return (
    <>
      <Panel title={words.facts}>
        <Facts
          facts={[
            [words.id, <CopyText key="id" text={method.id} label={words.id} />],
            [words.type, words.types[method.type]],
            [words.account, bank === null ? null : accountOf(method)],
            [words.routing, bank?.routing_number],
            [words.fingerprint, bank === null ? null : <span className="ui-id">{bank.fingerprint}</span>],
            [words.rails, railsOf(method)],
            [words.available, balance === null ? null : <Amount key="available" minor={balance.available} />],
            [words.posted, balance === null ? null : <Amount key="posted" minor={balance.posted} />],
            [words.pending, balance === null ? null : <Amount key="pending" minor={balance.pending} />],
            [
              words.owed,
              balance === null || balance.owed === 0 ? null : <Amount key="owed" minor={balance.owed} />,
            ],
            [words.created, <When key="created" at={method.created_at} withZone />],
          ]}
        />
      </Panel>
      <Panel title={words.payments} flush>
        <PagedTable
          place={place}
          label={words.payments}
          columns={paymentColumns}
          query={payments}
          keyOf={({ id }) => id}
          empty={<EmptyNote>{words.noPayments}</EmptyNote>}
        />
      </Panel>
    </>
  );
}

function MethodActions({ method }: { method: PaymentMethod }) {
  const navigate = useNavigate();
  return (
    <>
      <Button component={Link} to="/payments/new" search={{ from: method.id } as never}>
        {words.payFrom}
      </Button>
      <Button component={Link} to="/payments/new" search={{ to: method.id } as never} variant="default">
        {words.payTo}
      </Button>
      {method.type === 'balance' && mode === 'test' ? <FundButton id={method.id} /> : null}
      <ConfirmButton
        size="sm"
        danger
        label={words.remove}
        question={words.removeQuestion}
        explanation={words.removeHint}
        onConfirm={async () => {
          await client.delete(`/v1/payment_methods/${encodeURIComponent(method.id)}`);
          await navigate({ to: '/payment-methods' });
          await refresh('/v1/payment_methods');
          toast.done(words.removed);
        }}
      />
    </>
  );
}

function FundButton({ id }: { id: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  const api = useApiForm({
    initialValues: { amount: '1000.00' },
    validate: { amount: (value: string) => (parseAmount(value) ? null : texts.newPayment.notAnAmount) },
    fieldOfCode: { amount_too_large: 'amount' },
    wordsOf: (refusal) => wordsOfRefusal(refusal),
    send: async ({ amount }, idempotencyKey) => {
      const body = { amount: parseAmount(amount) };
      await client.post(`/v1/sandbox/payment_methods/${encodeURIComponent(id)}/fund`, body, {
        idempotencyKey,
      });
      await refresh('/v1/payment_methods', '/v1/ledger');
      toast.done(words.funded);
      close();
    },
  });
  return (
    <>
      <Button variant="default" onClick={open}>
        {words.fund}
      </Button>
      <Modal opened={opened} onClose={close} title={words.fund}>
        <ApiFormView api={api} submitLabel={words.fund}>
          <TextInput
            label={words.fundAmount}
            inputMode="decimal"
            data-autofocus
            {...api.form.getInputProps('amount')}
          />
        </ApiFormView>
      </Modal>
    </>
  );
}
