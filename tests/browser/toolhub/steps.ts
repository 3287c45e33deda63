// What a person does and reads on every page.
import type { Locator, Page } from 'playwright-core';

export const STEP_MS = 20_000;

export const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor();

export const panel = (page: Page, title: string): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

/** Among whatever else is said, such as what was done a moment ago. */
export const said = (page: Page, words: RegExp): Promise<void> =>
  page.getByRole('alert').filter({ hasText: words }).first().waitFor();

export async function go(page: Page, link: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click();
  await heading(page, link);
}

export async function cookieOf(page: Page): Promise<string> {
  const cookies = await page.context().cookies();
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}
