/** A browser without scripts: cookies with their paths, redirects that can be watched, forms. */
export interface Visit {
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

interface Cookie {
  value: string;
  path: string;
}

const REDIRECTS_MAX = 15;

export class Browser {
  /** Keyed by host, then by name and path. */
  readonly #cookies = new Map<string, Map<string, Cookie>>();
  readonly visited: string[] = [];

  /** One request, redirects not followed. */
  async fetch(url: string | URL, init: RequestInit = {}): Promise<Visit> {
    const target = new URL(url);
    const headers = new Headers(init.headers);
    const cookies = this.cookiesFor(target);
    if (cookies !== '') headers.set('cookie', cookies);
    const answer = await fetch(target, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) this.#keep(target, line);
    this.visited.push(target.href);
    return { url: target.href, status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  /** Follows redirects while they stay on `origin`; the first that leads away is the result. */
  async open(url: string | URL, init: RequestInit = {}): Promise<Visit> {
    let visit = await this.fetch(url, init);
    const { origin } = new URL(url);
    for (let hops = 0; hops < REDIRECTS_MAX; hops += 1) {
      const location = visit.headers.get('location');
      if (visit.status < 300 || visit.status >= 400 || location === null) return visit;
      const next = new URL(location, visit.url);
      if (next.origin !== origin) return visit;
      visit = await this.fetch(next);
    }
    throw new Error(`too many redirects from ${url}`);
  }

  /** Sends the first form of a page whose action contains `action`, as a browser does. */
  async submit(page: Visit, action: string, fields: Record<string, string>, follow = true): Promise<Visit> {
    const forms = [...page.text.matchAll(/<form method="post" action="([^"]+)">/g)].map(
      ([, address]) => address,
    );
    const address = forms.find((candidate) => candidate?.includes(action));
    if (address === undefined)
      throw new Error(`no form ${action} on ${page.url}: ${page.text.slice(0, 2_000)}`);
    const target = new URL(address, page.url);
    const init = {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        // What Chromium sends from a page with no-referrer.
        origin: 'null',
        'sec-fetch-site': 'same-origin',
      },
      body: new URLSearchParams(fields).toString(),
    };
    return follow ? this.open(target, init) : this.fetch(target, init);
  }

  cookiesFor(url: URL): string {
    const jar = this.#cookies.get(url.host) ?? new Map<string, Cookie>();
    return [...jar]
      .filter(([, { path }]) => url.pathname === path || url.pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(([key, { value }]) => `${key.split(' ', 1)[0]}=${value}`)
      .join('; ');
  }

  #keep(url: URL, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const path = attributes.find((text) => /^path=/i.test(text))?.slice(5) ?? '/';
    const gone = attributes.some(
      (text) => /^max-age=0$/i.test(text) || /^expires=Thu, 01 Jan 1970/i.test(text),
    );
    let jar = this.#cookies.get(url.host);
    if (jar === undefined) {
      jar = new Map();
      this.#cookies.set(url.host, jar);
    }
    if (gone) jar.delete(`${name} ${path}`);
    else jar.set(`${name} ${path}`, { value, path });
  }
}
