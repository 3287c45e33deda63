import { createPages, page } from '@libs/ui';
import { sessionOver } from './api/client.ts';
import { Frame } from './frame/frame.tsx';
import { askWhoIsThere } from './session/me.ts';

const publicPages = {
  '/': page(() => import('./front/page.tsx'), 'StartPage'),
  '/login': page(() => import('./session/login-page.tsx'), 'LoginPage'),
  '/signup': page(() => import('./session/signup-page.tsx'), 'SignupPage'),
  '/forgot': page(() => import('./session/forgot-page.tsx'), 'ForgotPage'),
  '/reset': page(() => import('./session/reset-page.tsx'), 'ResetPage'),
  '/verify': page(() => import('./session/verify-page.tsx'), 'VerifyPage'),
  '/admin': page(() => import('./admin/page.tsx'), 'AdminPage'),
  '/admin/$tab': page(() => import('./admin/tab-page.tsx'), 'AdminTabPage'),
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

const pages = createPages({ publicPages, framedPages, frame: Frame });

export const { router } = pages;
sessionOver.lead = () => {
  // The start has a side for everybody, which it turns to whoever has no session.
  if (!pages.leadToLogin()) askWhoIsThere();
};
