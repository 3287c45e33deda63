/**
 * The global `fetch`. Node 18 tries one address of a name alone, and `localhost` is often `::1` first, where nobody listens who
 * listens on 127.0.0.1, as the service does by itself. A connection that was refused has carried nothing.
 */
export const localFetch: typeof globalThis.fetch = async (input, init) => {
  try {
    return await globalThis.fetch(input, init);
  } catch (error) {
    const url = new URL(String(input));
    const isElsewhere = url.protocol === 'http:' && url.hostname === 'localhost' && isRefusedByIpv6(error);
    if (!isElsewhere) throw error;
    url.hostname = '127.0.0.1';
    return globalThis.fetch(url, init);
  }
};

/** Where all addresses were tried, the error names none of them. */
function isRefusedByIpv6(error: unknown): boolean {
  const { code, address } = ((error as Error).cause ?? {}) as { code?: string; address?: string };
  return code === 'ECONNREFUSED' && address === '::1';
}
