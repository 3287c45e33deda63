import type { DocsSite } from '@libs/docs';
import type { PaymentsConfig } from '../config.ts';
import { SANDBOX_TOKEN } from '../keys/key.ts';
import { paymentsIncludes } from './includes.ts';
import { codeSamples } from './samples.ts';

/** The address in the Markdown, which is that of `npm start`. */
const WRITTEN_URL = 'http://localhost:4000';

/** The guides in the order in which they are read. */
export function paymentsDocs(config: PaymentsConfig): DocsSite {
  return {
    product: 'Payments',
    folder: new URL('../../docs/', import.meta.url),
    groups: [
      { title: 'Start', pages: ['first-payment', 'sdks', 'sandbox'] },
      {
        title: 'Moving money',
        pages: ['idempotency', 'states', 'rails', 'payment-methods', 'webhooks'],
      },
      { title: 'When something goes wrong', pages: ['errors', 'network-codes', 'limits'] },
      { title: 'In production', pages: ['going-live', 'versioning'] },
      {
        title: 'Operating it',
        pages: ['running', 'production', 'backups', 'upgrades', 'rotating-keys', 'runbook'],
      },
    ],
    includes: paymentsIncludes(config),
    publicUrl: config.http.publicUrl,
    writtenUrl: WRITTEN_URL,
    ...(config.sandbox.on ? { tryOut: { scheme: 'apiKey', token: SANDBOX_TOKEN } } : {}),
    tokens: { apiKey: 'PAYMENTS_API_KEY', adminToken: 'PAYMENTS_ADMIN_TOKEN' },
    samples: codeSamples(config.http.publicUrl),
    links: [{ label: 'Dashboard', href: '/dashboard' }],
  };
}
