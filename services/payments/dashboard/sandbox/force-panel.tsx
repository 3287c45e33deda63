import { ApiFormView, Panel, toast, useApiForm } from '@libs/ui';
import { Select, TextInput } from '@mantine/core';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';

const words = texts.sandbox;

/** Plays the network for one payment: of this page, or of the id that is typed. */
export function ForcePanel({ paymentId }: { paymentId?: string }) {
  const api = useApiForm({
    initialValues: { id: paymentId ?? '', outcome: 'settle', code: '' },
    send: async ({ id, outcome, code }, idempotencyKey) => {
      const body = code.trim() === '' ? {} : { code: code.trim() };
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
        <Select
          label={words.outcome}
          data={Object.entries(words.outcomes).map(([value, label]) => ({ value, label }))}
          {...api.form.getInputProps('outcome')}
        />
        <TextInput label={words.code} placeholder={words.codeHint} {...api.form.getInputProps('code')} />
      </ApiFormView>
    </Panel>
  );
}
