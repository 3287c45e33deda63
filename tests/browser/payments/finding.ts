// How somebody finds a call or a page.
import { expect, test } from 'vitest';
import { goTo } from '../chromium.ts';
import type { Running } from './rig.ts';

export function testFinding(running: () => Running): void {
  test('finds the call in the request log, by the id of its answer', async () => {
    const { harness, page, kept } = running();
    const refused = await harness.call('GET', '/v1/payments/pay_none', { key: kept.serverKey });
    const id = refused.headers.get('x-request-id') as string;
    const isThere = async () => {
      const { data } = await page.request
        .get(`/v1/request_logs?request_id=${id}`, { headers: { 'payments-mode': 'test' } })
        .then((response) => response.json());
      return data.length;
    };
    await expect.poll(isThere, { timeout: 20_000, interval: 250 }).toBe(1);
    await goTo(page, '/dashboard/logs');
    await page.getByRole('heading', { level: 1, name: 'Request log' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search pages and actions' }).fill(id);
    await page.keyboard.press('Enter');
    await page.waitForURL(/request_id=/);
    await page.getByRole('link', { name: /GET \/v1\/payments\/pay_none/ }).click();
    await page.getByText('"code": "not_found"').waitFor();
  });

  test('finds a page by the keyboard alone', async () => {
    const { page } = running();
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search pages and actions' }).fill('ledger');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    await page.getByRole('tab', { name: 'Check' }).click();
    await page.getByText('The books are right.').waitFor();
  });
}
