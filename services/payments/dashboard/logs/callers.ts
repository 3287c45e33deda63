import { useList } from '../api/client.ts';
import { type ApiKey, KEYS_PATH } from '../keys/key.ts';
import { useRights } from '../session/session.ts';

const MEMBERS_MAX = 100;

/** Who called, by the name of the key or the person where the viewer may know it, or by the id. */
export function useCallers(): (id: string | null) => string {
  const rights = useRights();
  const keys = useList<ApiKey>(KEYS_PATH, {}, { enabled: rights.write });
  const members = useList<{ id: string; name: string }>('/v1/members', { limit: MEMBERS_MAX });
  const names = new Map([
    ...(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const),
    ...(members.data?.data ?? []).map(({ id, name }) => [id, name] as const),
  ]);
  return (id) => (id === null ? '' : names.get(id) || id);
}
