// How somebody finds a call or a page, and takes a list along.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { goTo } from '../chromium.ts';
import type { Running } from './rig.ts';
import { button } from './steps.ts';

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

  test('[P-4.8] saves the payments as a file that a spreadsheet reads with all its letters', async () => {
    const { harness, page, kept } = running();
    const body = {
      ...{ amount: 700, currency: 'USD', description: 'Café Zürich' },
      ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' } },
    };
    const made = await harness.call('POST', '/v1/payments', {
      ...{ key: kept.serverKey, body, headers: { 'idempotency-key': 'letters' } },
    });
    expect(made.status).toBe(202);
    await goTo(page, '/dashboard/payments');
    const download = page.waitForEvent('download');
    await button(page, 'Export CSV').click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('payments.csv');
    const saved = await readFile(await file.path(), 'utf8');
    expect(saved).toMatch(/^\ufeffid,/);
    expect(saved).toContain('Café Zürich');
    // Programs read the stream as it is.
    const headers = { 'payments-mode': 'test' };
    const stream = await page.request.get('/v1/payments/export?format=csv', { headers });
    expect((await stream.body()).subarray(0, 3).toString()).toBe('id,');
  });

  test('knows a payment by the name of a payment method that was deleted since', async () => {
    const { harness, page, kept } = running();
    const post = async (path: string, body: unknown) =>
      (await harness.call('POST', path, { key: kept.serverKey, body, headers: { 'idempotency-key': path } }))
        .body;
    const account = {
      ...{ routing_number: '021000021', account_number: '55510', account_type: 'checking' },
      ...{ holder_name: 'Margaret Hamilton', holder_type: 'individual' },
    };
    const { id } = await post('/v1/payment_methods', { type: 'bank_account', bank_account: account });
    const { id: payment } = await post('/v1/payments', {
      ...{ amount: 1_969, currency: 'USD', rail: 'rtp' },
      ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: id } },
    });
    const remove = () => harness.call('DELETE', `/v1/payment_methods/${id}`, { key: kept.serverKey });
    await expect.poll(async () => (await remove()).status, { timeout: 20_000 }).toBe(204);
    await goTo(page, '/dashboard/payments');
    const name = /Margaret Hamilton\s····\s5510/;
    await page
      .getByRole('row', { name: /\$19\.69/ })
      .getByText(name)
      .waitFor();
    await goTo(page, `/dashboard/payments/${payment}`);
    // There is no page of it any more that a link could lead to.
    await page.getByText(/Margaret Hamilton\s····\s5510 \(deleted\)/).waitFor();
    expect(await page.getByRole('link', { name }).count()).toBe(0);
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
