import { openStatuses } from './states.ts';

/**
 * The word by which lists find a payment of this status, in SQL: payments on their way share one, so that handing them to
 * their rails changes no index; those that are completed have none. Triggers keep it for processes that do not know it.
 */
export function listedAs(status: string): string {
  const open = openStatuses.map((one) => `'${one}'`).join(', ');
  return `case when ${status} in (${open}) then 'open' when ${status} <> 'completed' then ${status} end`;
}
