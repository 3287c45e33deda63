/** Knows which methods each path takes, for the `Allow` header of a 405. Read only when no route matched. */
export class AllowedMethods {
  readonly #byPattern = new Map<string, { matches: RegExp; methods: Set<string> }>();

  add(pattern: string, methods: string | string[]): void {
    let entry = this.#byPattern.get(pattern);
    if (entry === undefined) {
      entry = { matches: patternExpression(pattern), methods: new Set() };
      this.#byPattern.set(pattern, entry);
    }
    for (const method of [methods].flat()) entry.methods.add(method);
  }

  of(url: string): string[] {
    const queryStart = url.search(/[?#]/);
    const path = queryStart === -1 ? url : url.slice(0, queryStart);
    const allowed = new Set<string>();
    for (const { matches, methods } of this.#byPattern.values()) {
      if (matches.test(path)) for (const method of methods) allowed.add(method);
    }
    return [...allowed].sort();
  }
}

/** `/v1/payments/:id/cancel` and `/files/*`, as the router reads them; other syntax of the router is not used here. */
function patternExpression(pattern: string): RegExp {
  const source = pattern
    .split('/')
    .map((part) => {
      if (part === '*') return '.*';
      return part
        .split(/(:[A-Za-z_][A-Za-z0-9_]*)/)
        .map((piece) => (piece.startsWith(':') ? '[^/]+' : piece.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')))
        .join('');
    })
    .join('/');
  return new RegExp(`^${source}$`);
}
