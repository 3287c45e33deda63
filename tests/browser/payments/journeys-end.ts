// The end of the way: the connection is lost for a moment, and nothing went wrong unseen before.
import { expect, test } from 'vitest';
import { goTo } from '../chromium.ts';
import type { Running } from './rig.ts';

export function testJourneysEnd(running: () => Running): void {
  test('a lost connection is said, and recovered from by itself', async () => {
    const { page } = running();
    await goTo(page, '/dashboard/live/events');
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Payment methods' }).click();
    await page.getByText('The connection is lost.').first().waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'Payment methods' }).waitFor();
    await page.getByText('The connection is lost.').first().waitFor({ state: 'detached' });
  });

  test('nothing wrong was written into the console, and nothing was asked of another address', () => {
    const { watched } = running();
    const wrong = watched.faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED/.test(fault));
    expect(wrong).toEqual([]);
  });
}
