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
import { recoverMissingParts } from './missing-parts.ts';
import { styleNonce } from './nonce.ts';
import { printInLight } from './printing.ts';

/** Puts the program into the page. */
export function startApp(options: { name: string; router: AnyRouter; queryClient: QueryClient }): void {
  const nonce = styleNonce();
  // Where the library that locks the scrolling behind a dialog looks for it.
  Object.assign(window, { __webpack_nonce__: nonce });
  recoverMissingParts();
  printInLight();
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
