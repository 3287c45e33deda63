import { csvLine } from '@libs/http';
import type { AuditEntry } from './entry.ts';
import type { AuditService, EntryFilter } from './service.ts';

const PAGE = 1_000;
const EXPORT_LINES_MAX = 100_000;
/** Pages that hold nothing because of the filters count as well. */
const PAGES_MAX = 1_000;

const columns: readonly [name: string, value: (entry: AuditEntry) => string | null][] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at.toISOString()],
  ['actor_type', ({ actor }) => actor.type],
  ['actor_id', ({ actor }) => actor.id],
  ['action', ({ action }) => action],
  ['target', ({ target }) => target],
  ['outcome', ({ outcome }) => outcome],
  ['ip', ({ ip }) => ip],
  ['request_id', ({ requestId }) => requestId],
];

/** What fits the filter, newest first, page by page: memory stays the same however much there is. */
export async function* auditCsv(
  audit: Pick<AuditService, 'list'>,
  filter: EntryFilter & { customerId: string },
): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  let { before } = filter;
  let lines = 0;
  for (let page = 0; page < PAGES_MAX && lines < EXPORT_LINES_MAX; page += 1) {
    const limit = Math.min(PAGE, EXPORT_LINES_MAX - lines);
    const { entries, next } = await audit.list({ ...filter, before, limit });
    lines += entries.length;
    if (entries.length > 0)
      yield entries.map((entry) => csvLine(columns.map(([, value]) => value(entry)))).join('');
    if (next === null) return;
    before = next;
  }
}
