import { fileURLToPath } from 'node:url';
import { type App, registerPages } from '@libs/http';

/** Where the pages of the dashboard are; `dashboard/router.tsx` has the same list, and a test compares them. */
export const DASHBOARD_ADDRESSES = [
  '/',
  '/login',
  '/signup',
  '/forgot',
  '/reset',
  '/verify',
  '/connections',
  '/connections/:platform',
  '/tools',
  '/tools/:name',
  '/webhooks',
  '/billing',
  '/assistants',
  '/tokens',
  '/approvals',
  '/audit',
  '/settings',
  '/admin',
  '/admin/:tab',
] as const;

/** The dashboard lies at the root; its files are below `/dashboard`. */
export function registerDashboard(app: App): void {
  const folder = fileURLToPath(new URL('../dashboard/dist', import.meta.url));
  registerPages(app, {
    path: '/dashboard',
    addresses: DASHBOARD_ADDRESSES,
    folder,
    title: 'The Toolhub dashboard',
  });
}
