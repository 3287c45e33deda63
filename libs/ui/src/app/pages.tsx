import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router';
import { drafts } from '../form/drafts.ts';
import { Loading } from '../show/query-view.tsx';
import { ToStart } from '../show/to-start.tsx';
import { searchFormat } from '../table/search.ts';
import { BrokenPage, NotFoundPage } from './error-page.tsx';
import { loadPart } from './missing-parts.ts';

type Pages = Record<string, RouteComponent>;

/** Each page is a file of its own that is loaded when somebody goes there. */
export function page<Name extends string>(
  load: () => Promise<Record<Name, RouteComponent>>,
  name: NoInfer<Name>,
) {
  return lazyRouteComponent(() => loadPart(load as () => Promise<Record<string, RouteComponent>>), name);
}

/** A product's addresses: pages that anybody may see, and pages within the frame, which need a session. */
export function createPages(options: {
  publicPages: Pages;
  framedPages: Pages;
  frame: RouteComponent;
  basepath?: string;
}) {
  const { publicPages, framedPages, basepath = '' } = options;
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: options.frame });
  const router = createRouter({
    routeTree: root.addChildren([
      ...Object.entries(publicPages).map(([path, component]) =>
        createRoute({ getParentRoute: () => root, path, component }),
      ),
      frame.addChildren(
        Object.entries(framedPages).map(([path, component]) =>
          createRoute({ getParentRoute: () => frame, path, component }),
        ),
      ),
    ]),
    basepath: basepath || '/',
    ...searchFormat,
    defaultPreload: 'intent',
    scrollRestoration: true,
    // The page of another payment begins anew: what was typed or chosen for the one before must not be sent for it.
    defaultRemountDeps: ({ params }) => params,
    defaultPendingComponent: Loading,
    defaultErrorComponent: BrokenPage,
    defaultNotFoundComponent: () => <NotFoundPage action={<ToStart />} />,
  });

  /** To the log-in, and back to exactly here afterwards; pages that need no session stay, which is false. */
  const leadToLogin = (): boolean => {
    const { pathname, search } = window.location;
    const here = pathname.slice(basepath.length).replace(/\/$/, '') || '/';
    if (here in publicPages) return false;
    drafts.keepAll();
    // In place of the page: "back" would lead to it, and from it to the log-in again.
    const next = `${pathname}${search}`;
    void router.navigate({ to: '/login', search: { next } as never, replace: true });
    return true;
  };
  return { router, leadToLogin };
}
