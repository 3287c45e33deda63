import type { Queryable } from '@libs/db';
import type { Sealer } from '@libs/seal';
import type { RailMessage } from '../rail.ts';
import { findEarlierSendings } from './entries/earlier-store.ts';
import { findEntriesOf } from './entries/entries-store.ts';
import { findReplies } from './incoming/answers-store.ts';
import { excerptText } from './nacha/excerpt.ts';
import { looseExcerpt } from './nacha/loose.ts';
import { NachaFileRefused } from './nacha/write.ts';
import { findFiles } from './outgoing/files-store.ts';
import { fileSealContext } from './work/context.ts';

/** What stands of a payment in the files that went out and came back; the rest of those files is others' business. */
export async function achMessagesOf(
  db: Queryable,
  sealer: Pick<Sealer, 'openText'>,
  key: { tenantId: string; id: string },
): Promise<RailMessage[]> {
  const excerpt = (sealed: Buffer, id: string, trace: string, kind?: 'return' | 'noc'): string =>
    excerptOf(sealer.openText(sealed, fileSealContext(id)), trace, kind);
  const last = (await findEntriesOf(db, [key])).flatMap((entry) => entry.sentAs ?? []);
  const sent = [...(await findEarlierSendings(db, key)), ...last];
  const files = await findFiles(db, [...new Set(sent.map(({ fileId }) => fileId))]);
  const fileById = new Map(files.map((file) => [file.id, file]));
  const outgoing = sent.flatMap(({ messageId, fileId, trace }): RailMessage[] => {
    const file = fileById.get(fileId);
    if (!file) return [];
    const content = excerpt(file.contentSealed, fileId, trace);
    return [{ id: messageId, rail: 'ach', direction: 'out', kind: 'nacha', content, createdAt: file.asOf }];
  });
  const replies = await findReplies(db, key);
  const incoming = replies.map(({ id, kind, trace, createdAt, answerId, contentSealed }): RailMessage => {
    const content = excerpt(contentSealed, answerId, trace, kind);
    return { id, rail: 'ach', direction: 'in', kind, content, createdAt };
  });
  return [...outgoing, ...incoming];
}

/** By the rules where the lines keep them; else as the bank wrote them. */
function excerptOf(text: string, trace: string, kind?: 'return' | 'noc'): string {
  try {
    return excerptText(text, new Set([trace])) ?? looseExcerpt(text, trace, kind);
  } catch (error) {
    if (!(error instanceof NachaFileRefused)) throw error;
    return looseExcerpt(text, trace, kind);
  }
}
