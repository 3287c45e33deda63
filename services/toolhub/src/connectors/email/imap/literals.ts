import type { ImapFlow } from 'imapflow';

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
const BEYOND_ASCII = /[^\u0000-\u007f]/;

/**
 * Words beyond ASCII as literals, with as many bytes as they say: the library puts them between quotes, where a server need
 * not take them (RFC 3501 9) unless it has agreed to UTF-8 in all it reads (RFC 6855 3).
 */
export function withLiterals({ enabled }: ImapFlow, attributes: unknown): unknown {
  if (!Array.isArray(attributes) || enabled.has('UTF8=ACCEPT')) return attributes;
  return attributes.map((attribute: unknown) =>
    isWordBeyondAscii(attribute)
      ? { ...attribute, type: 'LITERAL', value: Buffer.from(attribute.value) }
      : attribute,
  );
}

function isWordBeyondAscii(attribute: unknown): attribute is { value: string } {
  return isBeyondAscii(((attribute ?? {}) as { value?: unknown }).value);
}

export function isBeyondAscii(value: unknown): value is string {
  return typeof value === 'string' && BEYOND_ASCII.test(value);
}
