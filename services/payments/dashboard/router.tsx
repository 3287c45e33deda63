import { createPages, page } from '@libs/ui';
import { sessionOver } from './api/client.ts';
import { basepath } from './api/mode.ts';
import { Frame } from './frame/frame.tsx';

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

const pages = createPages({ publicPages, framedPages, frame: Frame, basepath });

export const { router } = pages;
sessionOver.lead = pages.leadToLogin;
