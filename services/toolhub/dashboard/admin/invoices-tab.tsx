import { ApiFormView, Facts, formatAmount, Panel, useApiForm } from '@libs/ui';
import { Checkbox, TextInput } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../texts.ts';
import { operator } from './operator.ts';

const words = texts.admin;

interface Run {
  period: string;
  created: number;
  skipped: number;
  failed: number;
  dry_run?: true;
  total_cents?: number;
}

/** A dry run first: it tells what a run would do and does nothing. */
export function InvoicesTab() {
  const [run, setRun] = useState<Run>();
  const api = useApiForm({
    initialValues: { period: lastMonth(new Date()), dry_run: true },
    send: async (values) => setRun(await operator.post<Run>('/api/admin/invoices/run', values)),
  });
  return (
    <Panel title={words.run} lead={words.runLead}>
      <ApiFormView api={api} submitLabel={words.runNow}>
        <TextInput type="month" label={words.period} maw={240} {...api.form.getInputProps('period')} />
        <Checkbox label={words.dryRun} {...api.form.getInputProps('dry_run', { type: 'checkbox' })} />
      </ApiFormView>
      {run === undefined ? null : (
        <Facts
          facts={[
            [words.period, run.period],
            [run.dry_run === true ? words.wouldCreate : words.created, String(run.created)],
            [words.skipped, String(run.skipped)],
            [words.failed, String(run.failed)],
            [words.total, run.total_cents === undefined ? null : formatAmount(run.total_cents)],
          ]}
        />
      )}
    </Panel>
  );
}

function lastMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}
