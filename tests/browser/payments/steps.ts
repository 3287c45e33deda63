// What a person does on several pages.
import type { Locator, Page } from 'playwright-core';

export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name });

/** The field is marked as wrong, and these words are said of it, to a screen reader as well. */
export const refusedAt = (page: Page, field: string, words: string | RegExp): Promise<void> =>
  page
    .getByRole('textbox', { name: field, description: words })
    .or(page.getByRole('combobox', { name: field, description: words }))
    .and(page.locator('[aria-invalid="true"]'))
    .waitFor();

/** The new key, as it is shown once. */
export async function makeKey(page: Page, name: string): Promise<string> {
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  await button(page, 'Make a key').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Make a key' }).click();
  const key = await page
    .getByRole('dialog')
    .getByText(/^sk_(test|live)_/)
    .textContent();
  await button(page, 'I have kept it').click();
  await page.getByRole('row', { name: new RegExp(name) }).waitFor();
  return key ?? '';
}
