import { createHash, hash } from 'node:crypto';
import { nextTurn } from '@libs/runtime';

/** How much is hashed in one go, in characters or bytes: a few milliseconds on a slow machine. */
const AT_ONCE = 1024 * 1024;

/**
 * What tells two calls apart. Arguments of megabytes, such as a mail with its attachments, would hold up everybody else
 * for longer than anybody may: they are written in a turn of their own and hashed in slices. The hash is the same.
 */
export async function hashArguments(args: Record<string, unknown>): Promise<Buffer> {
  if (!isLong(args)) return hash('sha256', canonicalJson(args), 'buffer');
  await nextTurn();
  const bytes = Buffer.from(canonicalJson(args));
  const hashed = createHash('sha256');
  for (let at = 0; at < bytes.length; at += AT_ONCE) {
    await nextTurn();
    hashed.update(bytes.subarray(at, at + AT_ONCE));
  }
  return hashed.digest();
}

/** The order of members says nothing in JSON, so it must not tell two calls apart. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function isLong(args: Record<string, unknown>): boolean {
  let left = AT_ONCE;
  const spend = (item: unknown): boolean => {
    if (typeof item === 'string') left -= item.length;
    else if (typeof item === 'object' && item !== null) Object.values(item).some(spend);
    return left < 0;
  };
  return spend(args);
}
