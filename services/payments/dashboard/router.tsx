import { BrokenPage, Loading, loadPart, NotFoundPage, searchFormat } from '@libs/ui';
import { Button } from '@mantine/core';
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router';
import { sessionOver } from './api/client.ts';
import { basepath } from './api/mode.ts';
import { Frame } from './frame/frame.tsx';
import { texts } from './texts.ts';

const root = createRootRoute({ component: Outlet });

/** Each page is a file of its own that is loaded when somebody goes there. */
function page<Name extends string>(load: () => Promise<Record<Name, RouteComponent>>, name: NoInfer<Name>) {
  return lazyRouteComponent(() => loadPart(load as () => Promise<Record<string, RouteComponent>>), name);
}

const publicPages = {
  '/login': page(() => import('./session/login-page.tsx'), 'LoginPage'),
  '/signup': page(() => import('./session/signup-page.tsx'), 'SignupPage'),
  '/forgot': page(() => import('./session/forgot-page.tsx'), 'ForgotPage'),
  '/reset': page(() => import('./session/reset-page.tsx'), 'ResetPage'),
  '/verify': page(() => import('./session/verify-page.tsx'), 'VerifyPage'),
  '/invitation': page(() => import('./session/invitation-page.tsx'), 'InvitationPage'),
};

const framedPages = {
  '/': page(() => import('./home/page.tsx'), 'HomePage'),
  '/payments': page(() => import('./payments/list-page.tsx'), 'PaymentsPage'),
  '/payments/new': page(() => import('./payments/new/page.tsx'), 'NewPaymentPage'),
  '/payments/$id': page(() => import('./payments/detail/page.tsx'), 'PaymentPage'),
  '/payment-methods': page(() => import('./payment-methods/list-page.tsx'), 'PaymentMethodsPage'),
  '/payment-methods/$id': page(() => import('./payment-methods/detail-page.tsx'), 'PaymentMethodPage'),
  '/webhooks': page(() => import('./webhooks/list-page.tsx'), 'WebhooksPage'),
  '/webhooks/$id': page(() => import('./webhooks/detail-page.tsx'), 'WebhookPage'),
  '/events': page(() => import('./events/list-page.tsx'), 'EventsPage'),
  '/events/$id': page(() => import('./events/detail-page.tsx'), 'EventPage'),
  '/ledger': page(() => import('./ledger/page.tsx'), 'LedgerPage'),
  '/keys': page(() => import('./keys/page.tsx'), 'KeysPage'),
  '/logs': page(() => import('./logs/list-page.tsx'), 'LogsPage'),
  '/logs/$id': page(() => import('./logs/detail-page.tsx'), 'LogPage'),
  '/sandbox': page(() => import('./sandbox/page.tsx'), 'SandboxPage'),
  '/team': page(() => import('./team/page.tsx'), 'TeamPage'),
  '/settings': page(() => import('./settings/page.tsx'), 'SettingsPage'),
  '/operator': page(() => import('./operator/page.tsx'), 'OperatorPage'),
};

const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Frame });

const routeTree = root.addChildren([
  ...Object.entries(publicPages).map(([path, component]) =>
    createRoute({ getParentRoute: () => root, path, component }),
  ),
  frame.addChildren(
    Object.entries(framedPages).map(([path, component]) =>
      createRoute({ getParentRoute: () => frame, path, component }),
    ),
  ),
]);

export const router = createRouter({
  routeTree,
  basepath,
  ...searchFormat,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: Loading,
  defaultErrorComponent: BrokenPage,
  defaultNotFoundComponent: () => (
    <NotFoundPage
      action={
        <Button component={Link} to="/" variant="default">
          {texts.navigation.backHome}
        </Button>
      }
    />
  ),
});

/** To the log-in, and back to exactly here afterwards; pages that need no session stay. */
sessionOver.lead = () => {
  const { pathname, search } = window.location;
  const here = pathname.slice(basepath.length).replace(/\/$/, '') || '/';
  if (here in publicPages) return;
  void router.navigate({ to: '/login', search: { next: `${pathname}${search}` } as never });
};
