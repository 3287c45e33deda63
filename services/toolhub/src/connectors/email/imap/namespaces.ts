import type { ImapFlow, NamespaceObject } from 'imapflow';
import { decodePath } from 'imapflow/lib/tools.js';

/** Where the folders of an account lie (RFC 2342). */
export interface Namespaces {
  /** Stands before the names of the account's own folders: `INBOX.` at many hosters, mostly nothing. */
  prefix: string;
  delimiter: string | null;
  /** What the folders of each kind begin with. */
  kinds: readonly { kind: FolderKind; prefix: string }[];
}

/** The account's own, another person's, or one that several share. */
export type FolderKind = 'own' | 'others' | 'shared';

const PLAIN: Namespaces = { prefix: '', delimiter: null, kinds: [] };
const known = new WeakMap<ImapFlow, Namespaces>();

export function namespacesOf(client: ImapFlow): Namespaces {
  return known.get(client) ?? PLAIN;
}

/**
 * To be called once, after the login. The library puts the prefix of the account's own folders before every name that
 * does not begin with it, so that folders beside them can be neither listed nor opened; it is taken from it here.
 */
export function takeNamespaces(client: ImapFlow): void {
  const { namespace, namespaces } = client;
  if (namespace === undefined) return;
  const decoded = ({ prefix }: NamespaceObject) => decodePath(client, prefix);
  const named = (kind: FolderKind, all: readonly NamespaceObject[] | false | undefined) =>
    (all || []).map((one) => ({ kind, prefix: decoded(one) }));
  known.set(client, {
    prefix: decoded(namespace),
    delimiter: namespace.delimiter ?? null,
    kinds: [
      ...named('own', namespaces?.personal),
      ...named('others', namespaces?.other),
      ...named('shared', namespaces?.shared),
    ],
  });
  namespace.prefix = '';
}

/** Of the prefixes that fit, the longest tells. */
export function kindOf({ kinds }: Namespaces, path: string): FolderKind {
  let best: Namespaces['kinds'][number] | undefined;
  for (const one of kinds)
    if (path.startsWith(one.prefix) && !(best && best.prefix.length >= one.prefix.length)) best = one;
  return best?.kind ?? 'own';
}
