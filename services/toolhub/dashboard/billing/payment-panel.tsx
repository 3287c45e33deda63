import { Facts, Panel, QueryView } from '@libs/ui';
import { Stack, Text } from '@mantine/core';
import { useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import { type BillingDetails, DETAILS_PATH } from './invoice.ts';

const words = texts.billing;

/** Whom invoices come from, and where their money goes. */
export function PaymentPanel() {
  const query = useObject<BillingDetails>(DETAILS_PATH);
  return (
    <Panel title={words.pay} lead={words.payLead}>
      <QueryView query={query}>
        {({ seller, payment }) => (
          <Facts
            facts={[
              [words.seller, <Lines key="seller" lines={[seller.name, ...seller.lines]} />],
              [words.sellerTaxId, seller.tax_id],
              [
                words.bank,
                payment.details.length === 0 ? null : <Lines key="bank" lines={payment.details} />,
              ],
              [words.online, payment.url === null ? null : words.onlineHint],
              [words.payNotSet, payment.details.length === 0 && payment.url === null ? words.payAsk : null],
            ]}
          />
        )}
      </QueryView>
    </Panel>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <Stack gap={0}>
      {lines.map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
    </Stack>
  );
}
