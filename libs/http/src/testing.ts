import { createExchangeCheck, type Exchange } from './openapi/exchange-check.ts';
import type { OpenApiDocument } from './openapi/schema.ts';

const checks = new Map<string, (exchange: Exchange) => void>();

/** Tests that speak to this address are held against the document from now on. */
export function watchExchanges(url: string, document: () => OpenApiDocument): void {
  let check: ((exchange: Exchange) => void) | undefined;
  checks.set(new URL(url).host, (exchange) => {
    check ??= createExchangeCheck(document());
    check(exchange);
  });
}

/** Throws where an exchange with a watched address is not what its document says. */
export function checkExchange(
  url: string,
  sent: { method: string; headers: Readonly<Record<string, string>>; body?: string | undefined },
  received: { status: number; headers: Headers; text: string },
): void {
  const { host, pathname, search } = new URL(url);
  checks.get(host)?.({
    method: sent.method,
    path: `${pathname}${search}`,
    requestHeaders: Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    requestBody: sent.body,
    status: received.status,
    contentType: received.headers.get('content-type') ?? '',
    answer: received.text,
  });
}
