import { ApiFormView, Facts, formatAmount, Panel, useApiForm } from '@libs/ui';
import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../texts.ts';
import { AllInvoices } from './all-invoices.tsx';
import { ALL_INVOICES_PATH } from './invoice-columns.tsx';
import { operator, refresh } from './operator.ts';

const words = texts.admin;
/** A run answers when it is done, and holds its lock for as long. */
const RUN_MAX_MS = 60 * 60_000;

interface Run {
  period: string;
  created: number;
  skipped: number;
  failed: number;
  waiting?: number;
  dry_run?: true;
  total_cents?: number;
}

export function InvoicesTab() {
  return (
    <Stack gap="lg">
      <InvoiceRun />
      <AllInvoices />
    </Stack>
  );
}

/** A dry run first: it tells what a run would do and does nothing. */
function InvoiceRun() {
  const [run, setRun] = useState<Run>();
  const api = useApiForm({
    initialValues: { period: lastMonth(new Date()), dry_run: true },
    send: async (values) => {
      setRun(undefined);
      setRun(await operator.post<Run>(`${ALL_INVOICES_PATH}/run`, values, { timeoutMs: RUN_MAX_MS }));
      await refresh(ALL_INVOICES_PATH);
    },
  });
  return (
    <Panel title={words.run} lead={words.runLead}>
      <ApiFormView api={api} submitLabel={words.runNow}>
        <TextInput type="month" label={words.period} maw={240} {...api.form.getInputProps('period')} />
        <Checkbox label={words.dryRun} {...api.form.getInputProps('dry_run', { type: 'checkbox' })} />
      </ApiFormView>
      {/* There before the run is, since a screen reader hears only of what changes in it. */}
      <div role="status">
        {run === undefined ? null : (
          <Facts
            facts={[
              [words.period, run.period],
              [run.dry_run === true ? words.wouldCreate : words.created, String(run.created)],
              [words.skipped, String(run.skipped)],
              [words.failed, String(run.failed)],
              [words.waitingForCalls, run.waiting === undefined ? null : String(run.waiting)],
              [words.total, run.total_cents === undefined ? null : formatAmount(run.total_cents)],
            ]}
          />
        )}
      </div>
    </Panel>
  );
}

function lastMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}
