import type { DocsSite } from '@libs/docs';
import type { PaymentsConfig } from '../config.ts';
import { paymentsIncludes } from './includes.ts';

/** The address in the Markdown, which is that of `npm start`. */
const WRITTEN_URL = 'http://localhost:4000';

/** The guides in the order in which they are read. */
export function paymentsDocs(config: PaymentsConfig): DocsSite {
  return {
    product: 'Payments',
    folder: new URL('../../docs/', import.meta.url),
    groups: [{ title: 'When something goes wrong', pages: ['errors'] }],
    includes: paymentsIncludes(config),
    publicUrl: config.http.publicUrl,
    writtenUrl: WRITTEN_URL,
    links: [{ label: 'Dashboard', href: '/dashboard' }],
  };
}
