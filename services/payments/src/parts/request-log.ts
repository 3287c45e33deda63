import { recordRequests } from '../request-log/recording.ts';
import { registerRequestLogRoutes } from '../request-log/routes.ts';
import { createRequestLogs, type RequestLogs } from '../request-log/service.ts';
import type { Base, Part } from './base.ts';

export type RequestLogPart = Part & Pick<RequestLogs, 'sweep'> & { watch: () => void };

/** What callers did, for whoever looks for a mistake. */
export function addRequestLog(base: Base): RequestLogPart {
  const { app, database, newId, now, onError, config } = base;
  const logs = createRequestLogs({
    ...{ database, newId, now, days: config.requestLogDays },
    onError: (error) => onError(error, { where: 'request log' }),
  });
  return {
    sweep: logs.sweep,
    /** Before the routes that it watches. */
    watch: () => app.addHook('onSend', recordRequests(logs, now)),
    routes: (_app, routes) => registerRequestLogRoutes(routes, { logs }),
    handlers: [],
    cron: [],
    close: () => logs.close(),
  };
}
