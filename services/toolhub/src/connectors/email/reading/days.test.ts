import { expect, it, test } from 'vitest';
import { daysOf } from './days.ts';

const NOW = new Date('2026-11-16T22:00:00.000Z');

test.each([
  [{ since: '2026-11-01' }, { since: new Date('2026-11-01') }],
  [{ since: '2026-11-16' }, { since: new Date('2026-11-16') }],
  [{ before: '2026-11-16T15:00:00Z' }, { before: new Date('2026-11-16') }],
  [{ since: '2026-11-02T01:00:00+02:00' }, { since: new Date('2026-11-01') }],
  [{ since: '2016-12-31T23:59:60Z' }, { since: new Date('2016-12-31') }],
  // Nothing is younger than now or older than all mail, so these ends part nothing.
  [{ before: '2026-11-17' }, {}],
  [{ before: '9999-12-31' }, {}],
  [{ since: '0001-01-01' }, {}],
  [{ since: '2026-11-17' }, null],
  [{ since: '9999-12-31T23:59:59-23:59' }, null],
  [{ before: '1969-12-31' }, null],
])('%j looks at %j', (args, days) => expect(daysOf(args, NOW)).toEqual(days));

it('has no end that lies less than a second back, which a server would be told as none', () => {
  const midnight = new Date('2026-11-16T00:00:00.200Z');
  expect(daysOf({ before: '2026-11-16' }, midnight)).toEqual({});
  expect(daysOf({ since: '2026-11-16' }, midnight)).toBeNull();
});

test.each(['2026-13-45', '2026-02-30', '0000-00-00', '2026-11-16T99:99:99Z', '2026-11-16T:::::Z'])(
  '%s is no day',
  (text) => {
    for (const args of [{ since: text }, { before: text }])
      expect(() => daysOf(args, NOW)).toThrow(expect.objectContaining({ code: 'invalid_arguments' }));
  },
);
