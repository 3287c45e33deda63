// npm run soak [minutes]: one process for twenty minutes at 70 % of what it can do; ends with 1 where anything grew.
import { migrate } from '@libs/db';
import { startDatabase } from '../../bench/environment.ts';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import type { Sample } from './flat.ts';
import { type SoakReport, soak } from './soak.ts';

const MINUTES = 20;
const MEASURE_SECONDS = 30;
const SHARE = 0.7;
const MEGABYTE = 1_024 * 1_024;

const minutes = Number(process.argv[2] ?? MINUTES);
if (!(minutes > 0)) {
  console.error('For how many minutes? Give a number, or none for 20.');
  process.exit(2);
}

function line({ perSecond, p99Ms, residentMb, connections, waiting, payments, ...bytes }: Sample): string {
  const [kept, passing] = [bytes.keptBytes / MEGABYTE, bytes.passingBytes / MEGABYTE].map(Math.round);
  return (
    `${Math.round(perSecond)}/s  p99 ${p99Ms.toFixed(1)} ms  ${Math.round(residentMb)} MB  ${connections} connections  ` +
    `${waiting} under way  ${payments.toLocaleString('en')} payments  tables ${kept} MB, passing ${passing} MB`
  );
}

/** What it really was, in percent: a machine that is busy with something else may not have let it be what was wanted. */
function shareOf({ samples, measuredPerSecond }: SoakReport): number {
  const perSecond = samples.reduce((sum, sample) => sum + sample.perSecond, 0) / samples.length;
  return Math.round((perSecond / measuredPerSecond) * 100);
}

const server = await startDatabase();
let isFlat = false;
try {
  await migrate(server.url, paymentsMigrations());
  const report = await soak({
    ...{ databaseUrl: server.url, seconds: minutes * 60, measureSeconds: MEASURE_SECONDS, share: SHARE },
    onSample: (sample) => console.log(line(sample)),
  });
  isFlat = report.grew.length === 0 && report.stuck === 0 && report.untold === 0;
  console.log(
    `measured ${Math.round(report.measuredPerSecond)}/s, soaked at ${shareOf(report)} % of it for ${minutes} minutes`,
  );
  console.log(isFlat ? 'flat: memory, latency, connections and tables' : report.grew.join('\n'));
  if (report.stuck > 0) console.log(`${report.stuck} payments, jobs and deliveries are stuck`);
  if (report.untold > 0) console.log(`of ${report.untold} completed payments nobody was told`);
} finally {
  await server.stop();
}
process.exit(isFlat ? 0 : 1);
