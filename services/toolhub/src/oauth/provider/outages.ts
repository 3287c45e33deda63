import { type Database, isAwayFrom, isServerMissing } from '@libs/db';
import type { Adapter } from 'oidc-provider';

const UNAVAILABLE = 503;

/** The library answers by the status that an error has, and one of its own faults with 500: what is away is none, and may be tried again. */
export function answeringOutages(adapter: Adapter, database: Database): Adapter {
  const methods = Object.entries(adapter) as [string, (...given: unknown[]) => Promise<unknown>][];
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      (...given: unknown[]) =>
        method(...given).catch((error: unknown) => {
          throw isOutage(database, error) ? Object.assign(error, { statusCode: UNAVAILABLE }) : error;
        }),
    ]),
  ) as unknown as Adapter;
}

function isOutage(database: Database, error: unknown): error is Error {
  return error instanceof Error && (isAwayFrom(database, error) || isServerMissing(database, error));
}
