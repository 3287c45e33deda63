import { useReading } from '@libs/ui';
import { keepPreviousData } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { KEYS_PATH } from '../keys/key.ts';
import { useRights } from '../session/session.ts';
import type { RequestLog } from './log.ts';
import { namesOf } from './names.ts';

const MEMBERS_PATH = '/v1/members';
/** As many as the API gives at a time. */
const LOOKED_AT = 100;

/** Who made these calls, by the name of the key or the person where the viewer may know it, or by the id. */
export function useCallers(
  logs: readonly Pick<RequestLog, 'key_id' | 'user_id'>[],
): (id: string | null) => string {
  const rights = useRights();
  const keys = useNames(KEYS_PATH, rights.write ? logs.map(({ key_id: id }) => id) : []);
  const members = useNames(
    MEMBERS_PATH,
    logs.map(({ user_id: id }) => id),
  );
  return (id) => (id === null ? '' : keys?.get(id) || members?.get(id) || id);
}

function useNames(path: string, of: readonly (string | null)[]): ReadonlyMap<string, string> | undefined {
  const ids = [...new Set(of.filter((id) => id !== null))].sort();
  const query = useReading({
    queryKey: [path, { names: ids }],
    queryFn: ({ signal }) =>
      namesOf(ids, (cursor) => client.get(path, { query: { limit: LOOKED_AT, cursor }, signal })),
    placeholderData: keepPreviousData,
  });
  return query.data;
}
