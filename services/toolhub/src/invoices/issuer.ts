import type { Issuer } from './document.ts';

const NAME = 'Toolhub';

/** Whom an invoice comes from: the sender of the mail, as in its header, and where the service is. */
export function issuerOf({ from, publicUrl }: { from: string; publicUrl: string }): Issuer {
  const [, name = '', address = from] = /^\s*(.*?)\s*<([^<>]+)>\s*$/.exec(from) ?? [];
  return { name: name.replaceAll('"', '') || NAME, lines: [address, publicUrl] };
}
