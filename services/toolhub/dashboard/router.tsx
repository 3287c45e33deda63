import { BrokenPage, Loading, NotFoundPage, searchFormat } from '@libs/ui';
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
import { Frame } from './frame/frame.tsx';
import { texts } from './texts.ts';

const root = createRootRoute({ component: Outlet });

/** Each page is a file of its own that is loaded when somebody goes there. */
function page<Name extends string>(load: () => Promise<Record<Name, RouteComponent>>, name: NoInfer<Name>) {
  return lazyRouteComponent(load as () => Promise<Record<string, RouteComponent>>, name);
}

const publicPages = {
  '/': page(() => import('./front/page.tsx'), 'StartPage'),
  '/login': page(() => import('./session/login-page.tsx'), 'LoginPage'),
  '/signup': page(() => import('./session/signup-page.tsx'), 'SignupPage'),
  '/forgot': page(() => import('./session/forgot-page.tsx'), 'ForgotPage'),
  '/reset': page(() => import('./session/reset-page.tsx'), 'ResetPage'),
  '/verify': page(() => import('./session/verify-page.tsx'), 'VerifyPage'),
  '/admin': page(() => import('./admin/page.tsx'), 'AdminPage'),
};

/** The server serves the program at each of these; `services/toolhub/src/pages.ts` lists them. */
const framedPages = {
  '/connections': page(() => import('./connections/list-page.tsx'), 'ConnectionsPage'),
  '/connections/$platform': page(() => import('./connections/detail-page.tsx'), 'ConnectionPage'),
  '/tools': page(() => import('./tools/list-page.tsx'), 'ToolsPage'),
  '/tools/$name': page(() => import('./tools/detail-page.tsx'), 'ToolPage'),
  '/webhooks': page(() => import('./webhooks/page.tsx'), 'WebhooksPage'),
  '/billing': page(() => import('./billing/page.tsx'), 'BillingPage'),
  '/assistants': page(() => import('./assistants/page.tsx'), 'AssistantsPage'),
  '/tokens': page(() => import('./tokens/page.tsx'), 'TokensPage'),
  '/approvals': page(() => import('./approvals/page.tsx'), 'ApprovalsPage'),
  '/audit': page(() => import('./audit/page.tsx'), 'AuditPage'),
  '/settings': page(() => import('./settings/page.tsx'), 'SettingsPage'),
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
  if (pathname in publicPages) return;
  void router.navigate({ to: '/login', search: { next: `${pathname}${search}` } as never });
};
