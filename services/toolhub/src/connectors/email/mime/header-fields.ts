export const MESSAGE_ID = /<[^<>\s]{1,250}>/g;

/** Header fields by lower-case name, folded lines joined (RFC 5322 2.2.3). */
export function unfold(block: string): Map<string, string> {
  const lines = block.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  return new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 1
        ? []
        : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const];
    }),
  );
}
