import { drafts, Loading, type NavigationGroup, ProblemView, Shell } from '@libs/ui';
import { UnverifiedBanner } from '@libs/ui/account';
import { Container } from '@mantine/core';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { LineState, useLive } from '../api/live.ts';
import { mode } from '../api/mode.ts';
import { account } from '../session/account.tsx';
import { Brand } from '../session/brand.tsx';
import { useChangedRole } from '../session/changed-role.ts';
import { useMeantOrganisation } from '../session/meant-organisation.ts';
import { LiveBanner } from '../session/needs-live-access.tsx';
import { useFollowedSession, useRights } from '../session/session.ts';
import { useSwitchedElsewhere } from '../session/switched-elsewhere.ts';
import { AnotherOrganisationPanel } from '../settings/organisation-panels.tsx';
import { texts } from '../texts.ts';
import { ModeSwitch } from './mode-switch.tsx';
import { OrganisationSwitch } from './organisation-switch.tsx';
import { SessionMenu } from './session-menu.tsx';

const words = texts.navigation;

const modeColors = { test: 'var(--mantine-color-orange-6)', live: 'var(--mantine-color-brand-6)' };

function navigationOf(operates: boolean): NavigationGroup[] {
  return [
    { items: [{ to: '/', label: words.home, icon: 'home' }] },
    {
      label: words.money,
      items: [
        { to: '/payments', label: words.payments, icon: 'payments' },
        { to: '/payment-methods', label: words.methods, icon: 'bank' },
        { to: '/ledger', label: words.ledger, icon: 'book' },
      ],
    },
    {
      label: words.developers,
      items: [
        { to: '/keys', label: words.keys, icon: 'key' },
        { to: '/webhooks', label: words.webhooks, icon: 'webhook' },
        { to: '/events', label: words.events, icon: 'bolt' },
        { to: '/logs', label: words.logs, icon: 'list' },
        ...(mode === 'test' ? ([{ to: '/sandbox', label: words.sandbox, icon: 'flask' }] as const) : []),
      ],
    },
    {
      label: words.organisation,
      items: [
        { to: '/team', label: words.team, icon: 'people' },
        { to: '/settings', label: words.settings, icon: 'settings' },
        ...(operates ? ([{ to: '/operator', label: words.operator, icon: 'shield' }] as const) : []),
      ],
    },
  ];
}

/** Ids say by their first letters what they are. */
const pageByPrefix: Record<string, string> = {
  pay: '/payments/$id',
  pm: '/payment-methods/$id',
  we: '/webhooks/$id',
  evt: '/events/$id',
  log: '/logs/$id',
};

/** Everything behind the log-in. */
export function Frame() {
  const session = useFollowedSession();
  const rights = useRights();
  const navigate = useNavigate();
  useSwitchedElsewhere(session.data);
  const isOnTheWay = useMeantOrganisation(session.data);
  useChangedRole(session.data);
  if (session.data === undefined) {
    return (
      <Container size="sm" py="xl" component="main">
        {session.isError ? <ProblemView error={session.error} retry={session.refetch} /> : <Loading />}
      </Container>
    );
  }
  drafts.belongTo(`${session.data.user.id} ${session.data.organisation?.id ?? ''} ${mode}`);
  const navigation = navigationOf(rights.operate);
  const pages = navigation.flatMap(({ items }) => items);
  const actions = [
    ...(rights.write ? [{ to: '/payments/new', label: words.newPayment, icon: 'plus' as const }] : []),
    ...pages,
  ].map(({ to, label, icon }) => ({ label, icon, run: () => void navigate({ to }) }));
  return (
    <Shell
      brand={<Brand />}
      navigation={navigation}
      place={<OrganisationSwitch session={session.data} />}
      header={<ModeSwitch />}
      mode={{ color: modeColors[mode], banner: mode === 'test' ? null : <LiveBanner /> }}
      account={<SessionMenu session={session.data} />}
      palette={{
        actions: [
          ...actions,
          { label: words.reference, icon: 'book', run: () => window.location.assign('/docs') },
        ],
        interpret: (text) => {
          // Of a call one knows the id that came with its answer, which need not be unique.
          if (/^req_[\w-]+$/.test(text))
            return {
              label: text,
              run: () => void navigate({ to: '/logs', search: { request_id: text } as never }),
            };
          const to = pageByPrefix[text.split('_')[0] ?? ''];
          if (to === undefined || !/^[a-z]+_\w+$/.test(text)) return undefined;
          return { label: text, run: () => void navigate({ to, params: { id: text } as never }) };
        },
      }}
    >
      {session.data.user.email_verified ? null : (
        <UnverifiedBanner account={account} email={session.data.user.email} />
      )}
      {isOnTheWay ? (
        <Loading />
      ) : session.data.organisation === null ? (
        <AnotherOrganisationPanel key={session.data.user.id} />
      ) : (
        // Anew for another person or organisation: what was typed for one must not be sent for the other.
        <Pages key={`${session.data.user.id} ${session.data.organisation.id}`} />
      )}
    </Shell>
  );
}

function Pages() {
  return (
    <LineState value={useLive()}>
      <Outlet />
    </LineState>
  );
}
