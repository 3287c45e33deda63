import type { FetchMessageObject, FetchQueryObject, ImapFlow } from 'imapflow';

/** What a server tells of a message only when it is asked; flags it tells at any time (RFC 3501 7.4.2). */
const ASKED_FOR = [
  'envelope',
  'bodyStructure',
  'internalDate',
  'size',
  'headers',
  'bodyParts',
  'threadId',
] as const;

/**
 * Messages of the open folder by their numbers. A server may tell of any message at any time, and may tell what was asked
 * for of one in several answers, so what belongs together is put together, and only what was asked for is given,
 * in the order of the numbers.
 */
export async function fetchMessages(
  client: ImapFlow,
  uids: readonly number[],
  query: FetchQueryObject,
): Promise<FetchMessageObject[]> {
  if (uids.length === 0) return [];
  const told = await gather(client, uidSet(uids), query);
  return uids.flatMap((uid) => told.get(uid) ?? []).filter((message) => isAnswerTo(query, message));
}

export async function fetchMessage(
  client: ImapFlow,
  uid: number,
  query: FetchQueryObject,
): Promise<FetchMessageObject | undefined> {
  return (await fetchMessages(client, [uid], query))[0];
}

/** What was told of each message, by its number or, where that was not said again, by its place. */
async function gather(
  client: ImapFlow,
  range: string,
  query: FetchQueryObject,
): Promise<ReadonlyMap<number, FetchMessageObject>> {
  const byUid = new Map<number, FetchMessageObject>();
  const uidAt = new Map<number, number>();
  const unnamed = new Map<number, FetchMessageObject>();
  // When a message goes, those behind it move up: what was said of a place is now said of another message.
  const forgetPlaces = () => {
    uidAt.clear();
    unnamed.clear();
  };
  client.on('expunge', forgetPlaces);
  try {
    for await (const answer of client.fetch(range, query, { uid: true })) {
      const { seq } = answer;
      const uid = answer.uid ?? uidAt.get(seq);
      if (uid === undefined) {
        put(unnamed, seq, answer);
        continue;
      }
      const earlier = unnamed.get(seq);
      if (earlier !== undefined) put(byUid, uid, earlier);
      unnamed.delete(seq);
      uidAt.set(seq, uid);
      put(byUid, uid, answer);
    }
  } finally {
    client.off('expunge', forgetPlaces);
  }
  return byUid;
}

/** What is told later holds. */
function put(messages: Map<number, FetchMessageObject>, key: number, told: FetchMessageObject): void {
  const known = messages.get(key);
  if (known === undefined) {
    messages.set(key, told);
    return;
  }
  const bodyParts = new Map([...(known.bodyParts ?? []), ...(told.bodyParts ?? [])]);
  const news = Object.entries(told).filter(([, value]) => value !== undefined);
  Object.assign(known, Object.fromEntries(news), bodyParts.size > 0 ? { bodyParts } : {});
}

/** Something of what was asked for is there: flags alone are no answer to whoever asked for more. */
function isAnswerTo(query: FetchQueryObject, message: FetchMessageObject): boolean {
  const asked = ASKED_FOR.filter((item) => query[item]);
  return (asked.length > 0 ? asked : (['flags'] as const)).some((item) => message[item] !== undefined);
}

export function uidSet(uids: readonly number[]): string {
  return [...new Set(uids)].sort((left, right) => left - right).join(',');
}
