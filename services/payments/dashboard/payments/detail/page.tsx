import {
  CodeTabs,
  ConfirmButton,
  capitalised,
  formatAmount,
  Page,
  Panel,
  ProblemView,
  QueryView,
  toast,
} from '@libs/ui';
import { Alert, Button, Grid, Group } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { client, refresh, useObject } from '../../api/client.ts';
import { mode } from '../../api/mode.ts';
import type { Payment, PaymentFailure, PaymentStatus } from '../../api/types.ts';
import { ForcePanel } from '../../sandbox/force-panel.tsx';
import { useRights } from '../../session/session.ts';
import { texts } from '../../texts.ts';
import { MessagesPanel } from '../messages/messages-panel.tsx';
import { PaymentStatusBadge } from '../status.tsx';
import { AttemptsPanel } from './attempts.tsx';
import { samplesOf } from './code-samples.ts';
import { DecisionPanel } from './decision.tsx';
import { EntriesPanel } from './entries.tsx';
import { EventsPanel } from './events.tsx';
import { FactsPanel } from './facts.tsx';
import { RefundButton } from './refund.tsx';
import { RefundsPanel } from './refunds.tsx';
import { TimelinePanel } from './timeline.tsx';

const words = texts.payment;

export function PaymentPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useObject<Payment>(`/v1/payments/${encodeURIComponent(id)}`);
  if (query.isError && query.data === undefined)
    return (
      <Page title={texts.payments.id}>
        <ProblemView error={query.error} retry={query.refetch} />
      </Page>
    );
  if (query.data === undefined)
    return (
      <Page title={texts.payments.id}>
        <QueryView query={query}>{() => null}</QueryView>
      </Page>
    );
  return <PaymentView payment={query.data} />;
}

function PaymentView({ payment }: { payment: Payment }) {
  const rights = useRights();
  const amount = formatAmount(payment.amount, payment.currency);
  return (
    <Page
      title={payment.refund_of === null ? words.title(amount) : words.refundTitle(amount)}
      lead={
        <Group gap="xs">
          <PaymentStatusBadge status={payment.status} />
          <span className="ui-id">{payment.id}</span>
        </Group>
      }
      actions={rights.write ? <PaymentActions payment={payment} /> : null}
    >
      {payment.failure === null ? null : (
        <Alert {...endingOf(payment.status)}>
          <FailureText failure={payment.failure} />
        </Alert>
      )}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <FactsPanel payment={payment} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <TimelinePanel payment={payment} />
        </Grid.Col>
      </Grid>
      <DecisionPanel decision={payment.rail_decision} asked={payment.rail} />
      {rights.write && mode === 'test' ? <ForcePanel payment={payment} /> : null}
      {payment.refund_of === null ? <RefundsPanel payment={payment} /> : null}
      <AttemptsPanel payment={payment} />
      <MessagesPanel payment={payment} />
      <EntriesPanel paymentId={payment.id} />
      <EventsPanel paymentId={payment.id} />
      <Panel title={words.code}>
        <CodeTabs label={words.code} samples={samplesOf(payment, { origin: window.location.origin, mode })} />
      </Panel>
    </Page>
  );
}

function endingOf(status: PaymentStatus): { color: string; title: string } {
  if (status === 'canceled') return { color: 'gray', title: words.stopped };
  return { color: 'red', title: status === 'returned' ? words.cameBack : words.failure };
}

/** In words, with the network's code and ours. */
function FailureText({ failure }: { failure: PaymentFailure }) {
  const { network_code: networkCode, code, detail } = failure;
  return (
    <Group gap="xs">
      {capitalised(detail)}
      {[networkCode, code].map((one) =>
        one === null ? null : (
          <code key={one} className="ui-id">
            {one}
          </code>
        ),
      )}
    </Group>
  );
}

function PaymentActions({ payment }: { payment: Payment }) {
  const canRefund =
    payment.status === 'completed' && payment.refund_of === null && payment.refunded_amount < payment.amount;
  return (
    <>
      {payment.status === 'pending' ? (
        <ConfirmButton
          size="sm"
          danger
          label={words.cancel}
          question={words.cancelQuestion}
          dismissLabel={words.cancelNot}
          explanation={words.cancelHint}
          onConfirm={async (idempotencyKey) => {
            await client.post(`/v1/payments/${payment.id}/cancel`, {}, { idempotencyKey });
            await refresh('/v1/payments');
            toast.done(words.canceled);
          }}
        />
      ) : null}
      {canRefund ? <RefundButton payment={payment} /> : null}
      {endedWithout.has(payment.status) ? <NextTry payment={payment} /> : null}
    </>
  );
}

/** The money did not get there, or did not stay. */
const endedWithout: ReadonlySet<PaymentStatus> = new Set(['failed', 'canceled', 'returned']);

/** The form of a new payment with the same in it; a refund is tried again where refunds are made. */
function NextTry({ payment: { id, refund_of: refunded } }: { payment: Payment }) {
  return refunded === null ? (
    <Button component={Link} to="/payments/new" search={{ again: id } as never}>
      {words.again}
    </Button>
  ) : (
    <Button component={Link} to="/payments/$id" params={{ id: refunded } as never} variant="default">
      {words.toRefunded}
    </Button>
  );
}
