// Pages that somebody comes to, reads or fills in half: they lead on, and take nothing for what it is not.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Harness } from '../../contract/payments/harness.ts';
import type { signUp } from '../../contract/payments/person.ts';

export interface Mishaps {
  dashboard: Harness;
  owner: Awaited<ReturnType<typeof signUp>>;
  /** A window of whoever has this cookie. */
  openAs: (cookie: string | undefined) => Promise<Page>;
}

export function testGoingOn(running: () => Mishaps): void {
  test('a key whose end is filled in half, or is no moment, is not made: it would never expire', async () => {
    const { owner, openAs } = running();
    const page = await openAs(owner.cookie);
    await page.goto('/dashboard/keys');
    const made: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/keys'))
        made.push(request.postDataJSON());
    });
    await page.getByRole('button', { name: 'Make a key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Ends one day');
    const end = dialog.getByLabel('Expires');
    const make = dialog.getByRole('button', { name: 'Make a key' });
    const isAskedFor = async () => {
      await make.click();
      await dialog.getByText('A day and a time').waitFor();
      await end.and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    };
    await end.pressSequentially('11062031');
    await isAskedFor();
    await end.fill('12031-11-06T12:05');
    await isAskedFor();
    expect(made).toEqual([]);
    await end.fill('2031-11-06T12:05');
    await make.click();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    expect(made).toMatchObject([{ expires_at: expect.stringMatching(/^2031-11-0/) }]);
    await page.context().close();
  });
}
