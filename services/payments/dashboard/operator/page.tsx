import { Empty, Page, TabRow, useSearchState } from '@libs/ui';
import { Button, Paper, Tabs } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { FilesTab } from './files-tab.tsx';
import { OrganisationsTab } from './organisations-tab.tsx';
import { QuarantineTab } from './quarantine-tab.tsx';
import { ReconciliationTab } from './reconciliation-tab.tsx';

const words = texts.operator;

const tabs = [
  ['organisations', OrganisationsTab],
  ['quarantine', QuarantineTab],
  ['reconciliation', ReconciliationTab],
  ['files', FilesTab],
] as const;

export function OperatorPage() {
  const rights = useRights();
  const search = useSearchState();
  if (!rights.operate)
    return (
      <Page title={words.title}>
        <Paper className="ui-panel">
          <Empty
            icon="shield"
            title={words.notYou}
            next={words.notYouNext}
            action={
              <Button component={Link} to="/" variant="default">
                {texts.navigation.home}
              </Button>
            }
          />
        </Paper>
      </Page>
    );
  const [chosen] = tabs.find(([name]) => name === search.values.tab) ?? tabs[0];
  return (
    <Page title={words.title}>
      <Tabs
        value={chosen}
        keepMounted={false}
        onChange={(tab) => search.set({ status: undefined, mode: undefined, tab: tab ?? undefined })}
      >
        <TabRow
          label={words.title}
          chosen={chosen}
          tabs={tabs.map(([name]) => [name, words[name]] as const)}
        />
        {tabs.map(([name, Tab]) => (
          <Tabs.Panel key={name} value={name}>
            <Tab />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
