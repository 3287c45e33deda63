import type { MonthReport } from './simulation.ts';

const LINES_PER_FAULT_MAX = 20;

export function isGood(report: MonthReport): boolean {
  const { stuck, disagreements, wrongEnds, webhooks, errors, landmarks, aside, mornings, returns } = report;
  const covers =
    landmarks.weekendDays > 0 &&
    landmarks.holidays.includes('Thanksgiving Day') &&
    landmarks.clockChanges.length > 0 &&
    landmarks.turnsOfYear > 0;
  const faults = [...disagreements, ...wrongEnds, ...errors, ...mornings.wrong];
  const isEveryReturnThere = returns.missing.length === 0 || !report.isWhole;
  const isAllThere = webhooks.arrived === webhooks.events && aside.found === aside.planted;
  return covers && isEveryReturnThere && stuck === 0 && faults.length === 0 && isAllThere;
}

const count = (value: number) => value.toLocaleString('en');

export function describeReport(report: MonthReport, cpuSeconds: number): string {
  const { landmarks, webhooks, disagreements, wrongEnds, errors, aside, mornings, returns } = report;
  const some = (faults: readonly unknown[]) =>
    faults.slice(0, LINES_PER_FAULT_MAX).map((fault) => `               ${fault}`);
  return [
    `payments       ${count(report.payments)}`,
    `days           ${report.days}: ${landmarks.weekendDays} of weekends, ${landmarks.holidays.join(', ')}, clocks changed on ` +
      `${landmarks.clockChanges.join(', ')}, ${landmarks.turnsOfYear} turn of the year`,
    `books agree    ${disagreements.length === 0 ? 'yes, to the cent' : `NO: ${disagreements.length} differences`}`,
    ...some(disagreements),
    `stuck          ${report.stuck}`,
    `wrong ends     ${wrongEnds.length}`,
    ...some(wrongEnds),
    `returns        ${returns.all - returns.missing.length} of ${returns.all} (codes, of either side, before, during and after the credit)`,
    ...some(returns.missing),
    `refused files  ${report.refusedFiles.again} left again, ${report.refusedFiles.forGood} failed`,
    `odd entry      1 among ${count(report.crowd)} in one file`,
    `RTP answers    ${count(report.repeatedAnswers)} beside the network's own: twice, too early, contradicting`,
    `mornings       ${mornings.planted} differences planted, each found on its day, ${mornings.wrong.length} faults`,
    ...some(mornings.wrong),
    `put aside      ${aside.found} of ${aside.planted} planted`,
    `webhooks out   ${count(webhooks.arrived)} of ${count(webhooks.events)}`,
    `errors         ${errors.length}`,
    ...some(errors),
    `seconds        ${report.seconds.toFixed(1)} (${cpuSeconds.toFixed(1)} of CPU here, the database's beside)`,
  ].join('\n');
}
