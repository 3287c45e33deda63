// Money that comes back, and a payment that is tried again.
import { expect, test } from 'vitest';
import { goTo } from '../chromium.ts';
import type { Running } from './rig.ts';
import { button, refusedAt } from './steps.ts';

export function testMoneyBack(running: () => Running): void {
  test('refunds a payment, no more than is left of it, and sees the refund at the payment', async () => {
    const { page } = running();
    await goTo(page, '/dashboard/payments?status=completed');
    await page.getByRole('link', { name: /^Payment pay_/ }).click();
    await button(page, 'Refund').click();
    await page.getByRole('dialog').getByLabel('Amount in USD').fill('2,000.00');
    await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click();
    // As money, not in the cents of the API.
    await refusedAt(page, 'Amount in USD', /At most \$1,250\.00 of this payment can still be refunded\./);
    await page.getByRole('dialog').getByLabel('Amount in USD').fill('250.00');
    await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click();
    await page.getByRole('heading', { level: 1, name: 'Refund of $250.00' }).waitFor();
    await page.locator('dd').getByRole('link', { name: /^pay_/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Payment of $1,250.00' }).waitFor();
    await page.getByText('Refunded').waitFor();
    // The payment leads to each of its refunds, too.
    const refunds = page.getByRole('table', { name: 'Refunds' });
    await refunds.getByRole('link', { name: /^Payment pay_.*\$250\.00$/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Refund of $250.00' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Refunds' }).count()).toBe(0);
    // The list tells both from other payments.
    await goTo(page, '/dashboard/payments');
    await page.getByRole('row', { name: /\$1,250\.00 .*\$250\.00 refunded/ }).waitFor();
    await page.getByRole('row', { name: /^Payment pay_\S+ \$250\.00 .*Refund / }).waitFor();
  });

  test('moves the clock to the next window, forces a return, and sees it without a reload', async () => {
    const { page, kept } = running();
    await goTo(page, '/dashboard/sandbox');
    await button(page, 'Freeze now').click();
    await page.getByText('Frozen', { exact: true }).waitFor();
    await goTo(page, '/dashboard/payments/new');
    await page.getByLabel('Amount in USD').fill('40.00');
    await page.getByLabel('From payment method').fill('pm_alice');
    await page.getByLabel('To payment method').fill('pm_bob');
    await page.getByRole('combobox', { name: 'Rail' }).click();
    await page.getByRole('option', { name: 'ACH' }).click();
    await page.getByLabel('Description').fill('Invoice 8');
    await page.getByLabel('Metadata').fill('order=8');
    await button(page, 'Send payment').click();
    await page.waitForURL(/\/payments\/pay_/);
    const payment = new URL(page.url()).pathname;
    kept.failedPath = payment;
    // What was asked for is no choice: nothing is said of what would have been cheaper.
    const rails = page.getByRole('table', { name: 'Why this rail' });
    await rails.getByRole('row', { name: /ACH.*It was asked for/ }).waitFor();
    await rails.getByRole('row', { name: /RTP.*Possible, but not asked for/ }).waitFor();
    const timeline = page.locator('.mantine-Timeline-root');
    await timeline.getByText('Pending').waitFor();
    // Its file leaves at one of the next windows, so the clock goes to the last of them.
    await goTo(page, '/dashboard/sandbox');
    const clock = page.getByRole('main').locator('dd time').first();
    const before = await clock.getAttribute('datetime');
    const windows = page.getByRole('group', { name: 'Next ACH windows' }).getByRole('button');
    // The clock and its windows are written in one way, which says the zone.
    for (const shown of [clock, ...(await windows.all())])
      expect(await shown.textContent()).toMatch(/^\w+ \d+, \d{4}, \d+:\d\d:\d\d [AP]M \S+$/);
    await windows.last().click();
    await expect.poll(() => clock.getAttribute('datetime')).not.toBe(before);
    await goTo(page, payment);
    await timeline.getByText('Processing').waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Return' }).click();
    await page.getByLabel('Network code').fill('R01');
    await button(page, 'Force it').click();
    await timeline.getByText('Failed').waitFor();
    await page.getByText(/R01/).first().waitFor();
    // Why is said in words, with the codes beside them.
    expect(await page.getByRole('main').getByRole('alert').first().textContent()).toMatch(
      /returned the entry: Insufficient funds.*R01.*insufficient_funds/,
    );
    // Nothing more can happen to it, so nothing more is offered.
    expect(await button(page, 'Force it').count()).toBe(0);
    // What was sent over the rail explains itself, and so does the file.
    await page.getByRole('button', { name: /nacha/i }).first().click();
    await page.getByText('Point at a field').filter({ visible: true }).first().waitFor();
  });

  test('tries a failed payment again: the form has the same in it, and only the button sends it', async () => {
    const { page, kept } = running();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/payments'))
        sent.push(request.headers()['idempotency-key'] ?? '');
    });
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByText('Filled in as in the payment').waitFor();
    const typed = ['Amount in USD', 'From payment method', 'To payment method', 'Description', 'Metadata'];
    const values = await Promise.all(typed.map((label) => page.getByLabel(label).inputValue()));
    expect(values).toEqual(['40.00', 'pm_alice', 'pm_bob', 'Invoice 8', 'order=8']);
    expect(await page.getByRole('combobox', { name: 'Rail' }).inputValue()).toBe('ACH');
    await page.getByText('Why this rail').first().waitFor();
    expect(sent).toEqual([]);
    await button(page, 'Send payment').click();
    await page.getByRole('heading', { level: 1, name: 'Payment of $40.00' }).waitFor();
    expect(sent).toEqual([expect.stringMatching(/^\w{32}$/)]);
    expect(new URL(page.url()).pathname).not.toBe(kept.failedPath);
    // While it is under way there is nothing to try again.
    await page.locator('.mantine-Timeline-root').getByText('Pending').waitFor();
    expect(await page.getByRole('link', { name: 'Try again' }).count()).toBe(0);
    await goTo(page, '/dashboard/sandbox');
    // No time, one that has passed and one too far ahead are refused at the field.
    await page.getByLabel('Set to').fill('');
    await button(page, /^Set$/).click();
    await page.getByText('A day and a time', { exact: true }).waitFor();
    await page.getByLabel('Set to').fill('2020-01-01T10:00:00');
    await button(page, /^Set$/).click();
    await refusedAt(page, 'Set to', /The sandbox clock only goes forward/);
    await page.getByLabel('Set to').fill('2100-01-01T10:00:00');
    await button(page, /^Set$/).click();
    await refusedAt(page, 'Set to', /at most ten years ahead/);
    // So is the id of a payment that does not exist.
    await page.getByLabel('Payment id').fill('pay_unknown');
    await button(page, 'Force it').click();
    await refusedAt(page, 'Payment id', 'There is no such payment.');
    await button(page, 'Let it run').click();
    await page.getByText('Running', { exact: true }).waitFor();
  });
}
