import { type DocsSite, includesOf, readMarkdown } from '@libs/docs';
import { expect } from 'vitest';

/** Every table that the code gives stands on a page; guides begin with a promise and end with the next step. */
export function expectWholePages(site: DocsSite, names: readonly string[]): void {
  const used = names.flatMap((name) => includesOf(readMarkdown(site, name)));
  expect(Object.keys(site.includes).filter((name) => !used.includes(name))).toEqual([]);
  for (const name of names.slice(1)) {
    const text = readMarkdown(site, name);
    expect([name, /^# .+\n\nAfter this page /.test(text)]).toEqual([name, true]);
    expect([name, /\n## The next step\n\n[^\n]+\n$/.test(text)]).toEqual([name, true]);
  }
}
