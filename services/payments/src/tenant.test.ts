import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTenantId, tenantOf } from './tenant.ts';

test('a tenant is found again by its id', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^org_[0-9a-z]{1,26}$/),
      fc.oneof(
        fc.record({ mode: fc.constant('live' as const), epoch: fc.constant(0) }),
        fc.record({ mode: fc.constant('test' as const), epoch: fc.nat() }),
      ),
      (organisationId, { mode, epoch }) => {
        const tenant = tenantOf(organisationId, mode, epoch);
        expect(parseTenantId(tenant.id)).toEqual(tenant);
      },
    ),
  );
});
