// npm run month [payments]: two simulated months against the real service; ends with 1 where anything is wrong.
import { startTestServer } from '@libs/db/testing';
import { describeReport, isGood } from './report.ts';
import { simulateMonths } from './simulation.ts';

const PAYMENTS = 10_000;
const SEED = 20_821_101;

const payments = Number(process.argv[2] ?? PAYMENTS);
if (!Number.isSafeInteger(payments) || payments < 1) {
  console.error('How many payments? Give a whole number, or none for 10,000.');
  process.exit(2);
}

const given = process.env.TEST_POSTGRES_URL ?? process.env.DATABASE_URL;
const server = given ? undefined : await startTestServer();
process.env.TEST_POSTGRES_URL = given ?? server?.url;
let isRight = false;
try {
  const before = process.cpuUsage();
  const report = await simulateMonths({ payments, seed: SEED });
  const { user, system } = process.cpuUsage(before);
  console.log(describeReport(report, (user + system) / 1_000_000));
  isRight = isGood(report);
} finally {
  await server?.stop();
}
process.exit(isRight ? 0 : 1);
