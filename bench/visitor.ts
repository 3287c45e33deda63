// Somebody at a dashboard, as both products meet them: signed up, with a cookie.
import { randomUUID } from 'node:crypto';

export interface Visitor<Joined> {
  /** What signing up answered. */
  joined: Joined;
  /** As a page of theirs asks. */
  headers: { cookie: string; 'content-type': string };
  /** How long a page of theirs waits for this, until the last byte. */
  call(path: string): Promise<number>;
}

export async function signUp<Joined>(
  url: string,
  path: string,
  more: Record<string, string> = {},
): Promise<Visitor<Joined>> {
  const json = { 'content-type': 'application/json' };
  const signup = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({
      ...{ email: `${randomUUID()}@example.com`, password: 'correct horse battery', name: 'A' },
      ...more,
    }),
  });
  if (signup.status !== 201) throw new Error(`signing up answered ${signup.status} ${await signup.text()}`);
  const cookie = signup.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  return {
    joined: (await signup.json()) as Joined,
    headers: { ...json, cookie },
    async call(asked) {
      const startedAt = performance.now();
      const answer = await fetch(`${url}${asked}`, { headers: { cookie } });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${asked} answered ${answer.status}`);
      return performance.now() - startedAt;
    },
  };
}
