import { expect, test } from 'vitest';
import { isAwayFrom, isDatabaseAway, isTenantAway } from './away.ts';

const failure = (message: string, code?: string) => Object.assign(new Error(message), code ? { code } : {});

test.each([
  // As the driver and its pool say it.
  failure('Connection terminated unexpectedly'),
  failure('Connection terminated due to connection timeout'),
  failure('timeout exceeded when trying to connect'),
  failure('timeout expired'),
  failure('Client has encountered a connection error and is not queryable'),
  failure('Client was closed and is not queryable'),
  // As the system says it.
  failure('read ECONNRESET', 'ECONNRESET'),
  failure('write EPIPE', 'EPIPE'),
  failure('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
  // As Postgres or a pooler says it.
  failure('terminating connection due to administrator command', '57P01'),
  failure('the database system is starting up', '57P03'),
  failure('sorry, too many clients already', '53300'),
  failure('connection to the remote node failed', '08006'),
  failure('server conn crashed?', '08P01'),
  failure('cannot execute INSERT in a read-only transaction', '25006'),
  failure('password authentication failed for user "payments"', '28P01'),
  failure('no pg_hba.conf entry for host "10.0.0.1"', '28000'),
  failure('database "payments" does not exist', '3D000'),
])('the database is away: $message', (error) => {
  expect(isDatabaseAway(error)).toBe(true);
});

test.each([
  failure('duplicate key value violates unique constraint', '23505'),
  failure('deadlock detected', '40P01'),
  failure('canceling statement due to statement timeout', '57014'),
  failure('could not extend file: No space left on device', '53100'),
  failure('Cannot use a pool after calling end on the pool'),
  failure('of our own'),
  undefined,
])('it is not: $message', (error) => {
  expect(isDatabaseAway(error)).toBe(false);
});

test('where tables are spread, a server that another cannot reach is away, too', () => {
  const unreachable = failure('could not connect to any active placements', 'XX000');
  expect(isAwayFrom({ isSpread: true }, unreachable)).toBe(true);
  expect(isAwayFrom({ isSpread: false }, unreachable)).toBe(false);
  expect(isAwayFrom({ isSpread: false }, failure('read ECONNRESET', 'ECONNRESET'))).toBe(true);
  expect(isAwayFrom({ isSpread: true }, undefined)).toBe(false);
});

const stopping = failure('terminating connection due to administrator command', '57P01');
test.each([
  [failure('failure on connection marked as essential', 'XX000'), true],
  [failure('connection to the remote node toolhub@10.0.0.2:5432 failed', '08006'), true],
  [Object.assign(stopping, { where: 'while executing command on 10.0.0.2:5432' }), true],
  [failure('terminating connection due to administrator command', '57P01'), false],
  [failure('server conn crashed?', '08P01'), false],
  [failure('Connection terminated unexpectedly'), false],
  [failure('read ECONNRESET', 'ECONNRESET'), false],
  [undefined, false],
])('it is told from the first one, which our own connection leads to: %s', (error, isIt) => {
  expect(isTenantAway({ isSpread: true }, error)).toBe(isIt);
  expect(isTenantAway({ isSpread: false }, error)).toBe(false);
});
