import { expect, test } from 'vitest';
import { certificateWarnings } from './certificates.ts';

const day = (number: number) => new Date(Date.UTC(2026, 0, number));

test('a certificate that has expired, or is not valid yet, is named by its setting', () => {
  const certificates = [
    { setting: 'CERT', beginsAt: day(1), endsAt: day(5) },
    { setting: 'CA', beginsAt: day(4), endsAt: day(9) },
  ];
  expect(certificateWarnings(certificates, day(4))).toEqual([]);
  expect(certificateWarnings(certificates, day(6))).toEqual([
    'a certificate of CERT expired at 2026-01-05T00:00:00.000Z',
  ]);
  expect(certificateWarnings(certificates, day(2))).toEqual([
    'a certificate of CA is not valid before 2026-01-04T00:00:00.000Z',
  ]);
});
