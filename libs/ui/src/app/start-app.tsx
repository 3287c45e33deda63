import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '../theme/ui.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { AppName } from '../shell/page.tsx';
import { cssVariables, theme } from '../theme/theme.ts';
import { ErrorBoundary } from './error-page.tsx';
import { styleNonce } from './nonce.ts';

const RELOADED = 'reloaded-for-a-new-build';
const RELOADED_WITHIN_MS = 10_000;

/** Puts the program into the page. */
export function startApp(options: { name: string; router: AnyRouter; queryClient: QueryClient }): void {
  const nonce = styleNonce();
  // Where the library that locks the scrolling behind a dialog looks for it.
  Object.assign(window, { __webpack_nonce__: nonce });
  reloadForNewBuild();
  createRoot(document.getElementById('root') as HTMLElement).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <ErrorBoundary>
        <AppName value={options.name}>
          <QueryClientProvider client={options.queryClient}>
            <Notifications position="bottom-right" />
            <RouterProvider router={options.router} />
          </QueryClientProvider>
        </AppName>
      </ErrorBoundary>
    </MantineProvider>,
  );
}

/** A new build took the place of the one that this page came from, and a part of the old one is gone: once from the start. */
function reloadForNewBuild(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const lastMs = Number(sessionStorage.getItem(RELOADED) ?? 0);
    if (Date.now() - lastMs < RELOADED_WITHIN_MS) return;
    event.preventDefault();
    sessionStorage.setItem(RELOADED, String(Date.now()));
    window.location.reload();
  });
}
