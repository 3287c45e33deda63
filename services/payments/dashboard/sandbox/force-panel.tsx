import { ApiFormView, Panel, toast, useApiForm } from '@libs/ui';
import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import type { Payment } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.sandbox;

type Outcome = keyof typeof words.outcomes;

const before: readonly Outcome[] = ['settle', 'reject'];
/** Only ACH takes back, or corrects, what it has carried. */
const after: readonly Outcome[] = ['return', 'notify_of_change'];

/** What a network can still do to a payment in this state. */
function outcomesFor({ status, rail_selected: rail }: Pick<Payment, 'status' | 'rail_selected'>): Outcome[] {
  const isUnderWay = status === 'pending' || status === 'processing';
  const hasLeft = rail === 'ach' && (status === 'processing' || status === 'completed');
  return [...(isUnderWay ? before : []), ...(hasLeft ? after : [])];
}

/** Plays the network for one payment: of this page, or of the id that is typed. */
export function ForcePanel({ payment }: { payment?: Pick<Payment, 'id' | 'status' | 'rail_selected'> }) {
  const outcomes = payment === undefined ? [...before, ...after] : outcomesFor(payment);
  if (outcomes.length === 0) return null;
  // Anew when the state changes: what was chosen may not be possible any more.
  return <ForceForm key={payment?.status} outcomes={outcomes} {...(payment && { paymentId: payment.id })} />;
}

function ForceForm({ paymentId, outcomes }: { paymentId?: string; outcomes: readonly Outcome[] }) {
  const api = useApiForm({
    initialValues: { id: paymentId ?? '', outcome: outcomes[0] as string, code: '' },
    ...(paymentId === undefined && { fieldOfCode: { not_found: 'id' } }),
    send: async ({ id, outcome, code }, idempotencyKey) => {
      const body = code.trim() === '' || outcome === 'settle' ? {} : { code: code.trim() };
      const path = `/v1/sandbox/payments/${encodeURIComponent(id.trim())}/${outcome}`;
      await client.post(path, body, { idempotencyKey });
      await refresh('/v1/payments', '/v1/ledger', '/v1/events');
      toast.done(words.forced);
    },
  });
  return (
    <Panel title={words.force} lead={words.forceLead}>
      <ApiFormView api={api} submitLabel={words.submit}>
        {paymentId === undefined ? (
          <TextInput label={words.paymentId} placeholder="pay_…" required {...api.form.getInputProps('id')} />
        ) : null}
        {/* On the page of a payment the panel is as wide as the page. */}
        <SimpleGrid cols={{ base: 1, sm: paymentId === undefined ? 1 : 2 }}>
          <Select
            label={words.outcome}
            data={outcomes.map((value) => ({ value, label: words.outcomes[value] }))}
            {...api.form.getInputProps('outcome')}
          />
          {/* What settles has no reason to be told. */}
          {api.form.values.outcome === 'settle' ? null : (
            <TextInput label={words.code} placeholder={words.codeHint} {...api.form.getInputProps('code')} />
          )}
        </SimpleGrid>
      </ApiFormView>
    </Panel>
  );
}
