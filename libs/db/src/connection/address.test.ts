import { expect, test } from 'vitest';
import { connectReason, driverAddress } from './address.ts';

const place = 'postgres://me:pass%3Fword@db.example:5432/payments';

test('an address that asks for nothing is left as it is', () => {
  expect(driverAddress(place)).toEqual({ connectionString: place, options: undefined });
  const socket = 'postgres:///payments?host=%2Frun%2Fpostgresql';
  expect(driverAddress(socket)).toEqual({ connectionString: socket, options: undefined });
});

test('what it asks of the server is told apart, since the driver would put it in the place of our settings', () => {
  expect(driverAddress(`${place}?options=-c%20geqo%3Doff&sslmode=disable`)).toEqual({
    connectionString: `${place}?sslmode=disable`,
    options: '-c geqo=off',
  });
});

test.each([
  ['sslmode=require', 'sslmode=verify-full'],
  ['sslmode=prefer', 'sslmode=verify-full'],
  ['sslmode=verify-ca&sslrootcert=%2Fca.pem', 'sslmode=verify-full&sslrootcert=%2Fca.pem'],
  ['sslmode=no-verify', 'sslmode=no-verify'],
  ['sslmode=require&uselibpqcompat=true', 'sslmode=require&uselibpqcompat=true'],
  ['sslmode=verify-full&sslrootcert=system', 'sslmode=verify-full'],
])('every mode that the driver verifies is called so: %s', (given, meant) => {
  expect(driverAddress(`${place}?${given}`).connectionString).toBe(`${place}?${meant}`);
});

test('a certificate that nobody here knows, and a file that is missing, are told in words', () => {
  const unknown = Object.assign(new Error('self-signed'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' });
  expect(connectReason(unknown)).toMatch(
    /^nobody who is known here signed its certificate: .*sslrootcert=<file>/,
  );
  const missing = Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open', path: '/ca.pem' });
  expect(connectReason(missing)).toBe('the address names a file that cannot be read: /ca.pem (ENOENT)');
  expect(connectReason(new Error('timeout expired'))).toBe('timeout expired');
});
