import { drafts, Loading, type NavigationGroup, ProblemView, Shell } from '@libs/ui';
import { AccountMenu, UnverifiedBanner } from '@libs/ui/account';
import { Container } from '@mantine/core';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { sessionOver } from '../api/client.ts';
import { account } from '../session/account.tsx';
import { Brand } from '../session/brand.tsx';
import { type Customer, useMe } from '../session/me.ts';
import { texts } from '../texts.ts';

const words = texts.navigation;

const navigation: readonly NavigationGroup[] = [
  { items: [{ to: '/', label: words.overview, icon: 'home' }] },
  {
    label: words.use,
    items: [
      { to: '/connections', label: words.connections, icon: 'bolt' },
      { to: '/assistants', label: words.assistants, icon: 'people' },
      { to: '/tools', label: words.tools, icon: 'list' },
      { to: '/approvals', label: words.approvals, icon: 'check' },
    ],
  },
  {
    label: words.developers,
    items: [
      { to: '/webhooks', label: words.webhooks, icon: 'webhook' },
      { to: '/tokens', label: words.tokens, icon: 'key' },
      { to: '/audit', label: words.audit, icon: 'book' },
    ],
  },
  {
    label: words.account,
    items: [
      { to: '/billing', label: words.billing, icon: 'bank' },
      { to: '/settings', label: words.settings, icon: 'settings' },
    ],
  },
];

/** Everything behind the log-in. */
export function Frame() {
  const me = useMe();
  const isVisitor = me.data === null;
  // Known from the page before, so that no call is refused by which one would be led there.
  useEffect(() => {
    if (isVisitor) sessionOver.lead();
  }, [isVisitor]);
  if (me.data !== undefined && me.data !== null) {
    return (
      // Anew for another customer: what was typed for one must not be sent for the other.
      <CustomerFrame key={me.data.customer.id} customer={me.data.customer}>
        <Outlet />
      </CustomerFrame>
    );
  }
  return (
    <Container size="sm" py="xl" component="main">
      {me.isError ? <ProblemView error={me.error} retry={me.refetch} /> : <Loading />}
    </Container>
  );
}

export function CustomerFrame({ customer, children }: { customer: Customer; children: ReactNode }) {
  drafts.belongTo(customer.id);
  const navigate = useNavigate();
  const actions = navigation
    .flatMap(({ items }) => items)
    .map(({ to, label, icon }) => ({ label, icon, run: () => void navigate({ to }) }));
  return (
    <Shell
      brand={<Brand />}
      navigation={navigation}
      account={
        <AccountMenu
          account={account}
          person={customer}
          initials={([...customer.name.trim()][0] ?? '?').toUpperCase()}
          // From the start: nothing that was read stays in this page.
          onLoggedOut={() => window.location.assign('/login')}
        />
      }
      palette={{
        actions: [
          ...actions,
          { label: words.docs, icon: 'book', run: () => window.location.assign('/docs') },
          { label: words.operator, icon: 'shield', run: () => void navigate({ to: '/admin' }) },
        ],
      }}
    >
      {customer.email_verified ? null : <UnverifiedBanner account={account} email={customer.email} />}
      {children}
    </Shell>
  );
}
