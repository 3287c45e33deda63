import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What takes longest begins first, so that the end of a run is not one long file. Where nothing is known from an earlier
 * run (a fresh clone) files would go by their size, which says little: most of these wait for processes.
 */
export const LONGEST_FIRST = [
  'services/toolhub/src/connectors/email/hostile.db.test.ts',
  'tests/guides/payments.db.test.ts',
  'sdks/python/test/package.db.test.ts',
  'sdks/node/test/package.db.test.ts',
  'tests/month/month.db.test.ts',
  'tests/faults/storm.db.test.ts',
  'tests/faults/processes.db.test.ts',
  'tests/operating/upgrade-payments.db.test.ts',
  'tests/operating/upgrade-toolhub.db.test.ts',
  'tests/operating/restore-payments.db.test.ts',
  'tests/operating/restore-toolhub.db.test.ts',
  'tests/pooled/processes.db.test.ts',
  'tests/reference/reference.db.test.ts',
  'tests/contract/toolhub/webhooks-fairness.db.test.ts',
  'tests/contract/toolhub/hostile.db.test.ts',
  'tests/contract/toolhub/kills.db.test.ts',
  'tests/contract/toolhub/webhooks-schedule.db.test.ts',
  'tests/contract/payments/fuzz.db.test.ts',
  'sdks/test/faults.db.test.ts',
  'sdks/node/test/cli.test.ts',
  'libs/webhooks/src/delivery/processes.db.test.ts',
  'tests/faults/ach-kill.db.test.ts',
  'sdks/python/test/unit.test.ts',
  'tests/fuzz/fuzz.test.ts',
  'services/toolhub/src/billing/meter/meter.db.test.ts',
  'services/toolhub/src/main.db.test.ts',
  'services/toolhub/src/invoices/run-processes.db.test.ts',
  'services/toolhub/src/inbound/routes.db.test.ts',
  'services/toolhub/src/mcp/conformance.db.test.ts',
  'services/payments/src/main.db.test.ts',
  'tests/contract/toolhub/webhooks.db.test.ts',
  'tests/contract/payments/webhooks.db.test.ts',
  'sdks/node/test/cli.db.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      // Pages in a browser take long, all of them.
      if (moduleId.includes('/tests/browser/')) return -1;
      const place = LONGEST_FIRST.findIndex((name) => moduleId.endsWith(`/${name}`));
      return place === -1 ? LONGEST_FIRST.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
