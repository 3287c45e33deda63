import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DASHBOARD_ADDRESSES } from './pages.ts';

test('every page of the dashboard has an address at the server, and the other way round', () => {
  const router = readFileSync(new URL('../dashboard/router.tsx', import.meta.url), 'utf8');
  const pages = [...router.matchAll(/^ {2}'(\/[^']*)': page\(/gm)].map(([, path = '']) =>
    path.replaceAll(/\$(\w+)/g, ':$1'),
  );
  expect(pages.toSorted()).toEqual([...DASHBOARD_ADDRESSES].toSorted());
});
