import { ActionButton, type Column, DataTable, Panel, QueryView, When, wordsOfCode } from '@libs/ui';
import { Alert, Badge, Stack } from '@mantine/core';
import { useObject } from '../api/client.ts';
import type { LedgerCheck } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.ledger;

const columns: readonly Column<LedgerCheck['checks'][number]>[] = [
  {
    header: words.check,
    render: ({ name }) => wordsOfCode(name),
  },
  {
    header: texts.payments.status,
    render: ({ ok }) => <Badge color={ok ? 'brand' : 'red'}>{ok ? words.right : words.notRight}</Badge>,
  },
  { header: texts.payment.detail, render: ({ detail }) => detail },
];

export function CheckTab() {
  const query = useObject<LedgerCheck>('/v1/ledger/check');
  return (
    <QueryView query={query}>
      {(check) => (
        <Stack>
          <Alert
            color={check.ok ? 'brand' : 'red'}
            title={check.ok ? words.allGood : words.wrong}
            role="status"
          >
            <When at={check.checked_at} />
          </Alert>
          <Panel
            title={words.check}
            lead={words.checkLead}
            flush
            actions={<ActionButton onAct={() => query.refetch()}>{texts.common.again}</ActionButton>}
          >
            <DataTable label={words.check} columns={columns} rows={check.checks} keyOf={({ name }) => name} />
          </Panel>
        </Stack>
      )}
    </QueryView>
  );
}
