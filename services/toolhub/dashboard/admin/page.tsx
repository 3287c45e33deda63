import { ApiFormView, NarrowPage, Page, TabRow, useApiForm, useSearchState } from '@libs/ui';
import { Button, Container, Group, PasswordInput, Tabs } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { Brand } from '../session/brand.tsx';
import { texts } from '../texts.ts';
import { CustomersTab } from './customers-tab.tsx';
import { DeadLettersTab } from './dead-letters-tab.tsx';
import { HealthTab } from './health-tab.tsx';
import { InvoicesTab } from './invoices-tab.tsx';
import { JobsTab } from './jobs-tab.tsx';
import { operatorQueries, operatorToken, tryToken } from './operator.ts';
import { PlansTab } from './plans-tab.tsx';

const words = texts.admin;
const TABS = ['customers', 'plans', 'invoices', 'deadLetters', 'jobs', 'health'] as const;

export function AdminPage() {
  const token = operatorToken.use();
  if (token === undefined) return <TokenForm />;
  return (
    <QueryClientProvider client={operatorQueries}>
      <Container size="lg" py="lg" component="main">
        <Group justify="space-between" mb="lg">
          <Brand />
          <Button variant="default" onClick={() => operatorToken.set(undefined)}>
            {words.leave}
          </Button>
        </Group>
        <AdminTabs />
      </Container>
    </QueryClientProvider>
  );
}

function AdminTabs() {
  const search = useSearchState();
  const tab = TABS.find((each) => each === search.values.tab) ?? 'customers';
  return (
    <Page title={words.title} lead={words.lead}>
      <Tabs
        value={tab}
        // The filters of one tab are not those of another.
        onChange={(value) => search.set({ tab: value ?? undefined, email: undefined, status: undefined })}
        keepMounted={false}
      >
        <TabRow
          label={words.title}
          chosen={tab}
          tabs={TABS.map((each) => [each, words.tabs[each]] as const)}
        />
        <Tabs.Panel value="plans">
          <PlansTab />
        </Tabs.Panel>
        <Tabs.Panel value="deadLetters">
          <DeadLettersTab />
        </Tabs.Panel>
        <Tabs.Panel value="health">
          <HealthTab />
        </Tabs.Panel>
        <Tabs.Panel value="customers">
          <CustomersTab />
        </Tabs.Panel>
        <Tabs.Panel value="invoices">
          <InvoicesTab />
        </Tabs.Panel>
        <Tabs.Panel value="jobs">
          <JobsTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function TokenForm() {
  const api = useApiForm({
    initialValues: { token: '' },
    send: async ({ token }) => {
      // Tried before it is kept, so that a refusal is said here.
      await tryToken(token.trim());
      operatorQueries.clear();
      operatorToken.set(token.trim());
    },
  });
  return (
    <NarrowPage brand={<Brand />} title={words.title} lead={words.tokenLead}>
      <ApiFormView api={api} submitLabel={words.enter} fullWidth>
        <PasswordInput label={words.token} autoComplete="off" required {...api.form.getInputProps('token')} />
      </ApiFormView>
    </NarrowPage>
  );
}
