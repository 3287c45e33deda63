import type { Tenant } from '../../tenant.ts';

/** Where payments are created; the keys of requests belong to it. */
export const ACCEPT_PATH = '/v1/payments';

/** What an idempotency key stands for: the same key means another payment elsewhere. */
export interface AcceptPlace {
  readonly tenant: Pick<Tenant, 'id'>;
  readonly path: string;
  readonly key: string;
}
