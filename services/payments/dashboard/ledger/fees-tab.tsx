import { Amount, CalendarField, type Column, DataTable, Panel, QueryView, useSearchState } from '@libs/ui';
import { Stack, Text } from '@mantine/core';
import { useObject } from '../api/client.ts';
import { mode } from '../api/mode.ts';
import type { Fees, SandboxClock } from '../api/types.ts';
import { EmptyWithoutPayments } from '../payments/empty-without-payments.tsx';
import { texts } from '../texts.ts';

const words = texts.ledger;
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

const columns: readonly Column<Fees['by_rail'][number]>[] = [
  { header: words.rail, render: ({ rail }) => texts.rails[rail as keyof typeof texts.rails] ?? rail },
  { header: words.payments, align: 'right', render: ({ payments }) => payments.toLocaleString('en-US') },
  { header: words.amount, align: 'right', render: ({ amount }) => <Amount minor={amount} /> },
];

/** Fees are of the organisation's time, which in test mode may be months ahead of the wall's. */
export function FeesTab() {
  const clock = useObject<SandboxClock>('/v1/sandbox/clock', { enabled: mode === 'test' });
  if (mode === 'live') return <FeesView now={new Date().toISOString()} />;
  return <QueryView query={clock}>{({ now }) => <FeesView now={now} />}</QueryView>;
}

function FeesView({ now }: { now: string }) {
  const search = useSearchState();
  const { month: asked = '' } = search.values;
  // Where the browser has no field for months it is typed, and no month for a while.
  const month = MONTH.test(asked) ? asked : now.slice(0, 7);
  const query = useObject<Fees>('/v1/fees', { query: { month } });
  return (
    <Stack>
      <CalendarField
        type="month"
        label={words.month}
        width={180}
        value={month}
        onChange={(value) => search.set({ month: value })}
      />
      <QueryView query={query}>
        {(fees) => (
          <Panel
            title={words.fees}
            flush
            actions={
              <Text fw={600}>
                {words.total}: <Amount minor={fees.total} />
              </Text>
            }
          >
            <DataTable
              label={words.fees}
              columns={columns}
              rows={fees.by_rail}
              keyOf={({ rail }) => rail}
              empty={<EmptyWithoutPayments icon="book" title={words.noFees} next={words.noFeesNext} />}
            />
          </Panel>
        )}
      </QueryView>
    </Stack>
  );
}
