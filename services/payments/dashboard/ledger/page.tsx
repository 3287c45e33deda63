import { Page, TabRow, useSearchState } from '@libs/ui';
import { Tabs } from '@mantine/core';
import { texts } from '../texts.ts';
import { AccountsTab } from './accounts-tab.tsx';
import { CheckTab } from './check-tab.tsx';
import { EntriesTab } from './entries-tab.tsx';
import { FeesTab } from './fees-tab.tsx';

const words = texts.ledger;
const TABS = ['accounts', 'entries', 'fees', 'check'] as const;

/** The tab is part of the address, as filters are. */
export function LedgerPage() {
  const search = useSearchState();
  const tab = TABS.find((name) => name === search.values.tab) ?? 'accounts';
  return (
    <Page title={words.title}>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          search.set({
            payment_id: undefined,
            account_id: undefined,
            month: undefined,
            tab: next ?? undefined,
          })
        }
      >
        <TabRow label={words.title} chosen={tab} tabs={TABS.map((name) => [name, words[name]] as const)} />
        <Tabs.Panel value="accounts">
          <AccountsTab />
        </Tabs.Panel>
        <Tabs.Panel value="entries">
          <EntriesTab />
        </Tabs.Panel>
        <Tabs.Panel value="fees">
          <FeesTab />
        </Tabs.Panel>
        <Tabs.Panel value="check">
          <CheckTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
