import type { ImapFlow, ImapFlowError, ListResponse } from 'imapflow';
import { hasControlCharacters } from '../addresses.ts';
import { namespacesOf } from './namespaces.ts';

/** Each costs a command; servers name two or three in all. */
const NAMESPACES_ASKED_MAX = 10;
const PREFIX_LENGTH_MAX = 200;

/** The library's own list begins at the root. */
interface ClientInsides {
  run(command: 'LIST', reference: string, pattern: string, options: object): Promise<ListResponse[]>;
}

/**
 * Folders of the namespaces that a server names and leaves out of its list of all: it lists them when it is asked for what
 * begins so (RFC 2342 6). `listed` is the list of all.
 */
export async function listKeptOut(
  client: ImapFlow,
  listed: readonly ListResponse[],
  isWanted: (prefix: string) => boolean = () => true,
): Promise<ListResponse[]> {
  const prefixes = namespacesOf(client).kinds.map(({ prefix }) => prefix);
  const asked = [...new Set(prefixes)]
    .filter((prefix) => canBeAsked(prefix) && isWanted(prefix))
    .filter((prefix) => !listed.some(({ path }) => path.startsWith(prefix)))
    .slice(0, NAMESPACES_ASKED_MAX);
  const known = new Set(listed.map(({ path }) => path));
  const found: ListResponse[] = [];
  for (const prefix of asked) {
    for (const folder of await listBelow(client, prefix)) {
      // A server that takes no reference answers with all that it has.
      if (!folder.path.startsWith(prefix) || known.has(folder.path)) continue;
      known.add(folder.path);
      found.push(folder);
    }
  }
  return found;
}

/** A wildcard in a prefix would ask for more than what begins so. */
function canBeAsked(prefix: string): boolean {
  const isPlain = !/[*%]/.test(prefix) && !hasControlCharacters(prefix);
  return prefix !== '' && prefix.length <= PREFIX_LENGTH_MAX && isPlain;
}

async function listBelow(client: ImapFlow, prefix: string): Promise<ListResponse[]> {
  try {
    const insides = client as unknown as ClientInsides;
    return await insides.run('LIST', prefix, '*', { listOnly: true });
  } catch (error) {
    // What a server does not list when it is asked is as it was before it was asked.
    if ((error as ImapFlowError).responseStatus === undefined) throw error;
    return [];
  }
}
