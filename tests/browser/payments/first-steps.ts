// From the sign-up to a payment, an endpoint that hears of it, and a key.
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { nextMail } from '../../contract/payments/person.ts';
import { answer } from '../../contract/payments/receiver.ts';
import { goTo } from '../chromium.ts';
import { GRACE, type Running } from './rig.ts';
import { button, makeKey, refusedAt } from './steps.ts';

export function testFirstSteps(running: () => Running): void {
  test('[P-9.16] signs up, and proves the address by the link of the mail', async () => {
    const { harness, page } = running();
    await page.goto('/');
    await page.waitForURL(/\/dashboard\/login\?next=/);
    await page.getByRole('link', { name: 'Sign up' }).click();
    // What is wrong is said at the field.
    await page.getByLabel('Name').fill('Grace Hopper');
    await page.getByLabel('Organisation').fill('Compilers');
    await page.getByLabel('E-mail').fill(GRACE.email);
    await page.getByLabel('Password').fill('short');
    await button(page, 'Sign up').click();
    await page.locator('input[aria-invalid="true"]').waitFor();
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Password').fill(GRACE.password);
    await button(page, 'Sign up').click();
    await page.getByText('Your first payment').waitFor();
    const { token } = await nextMail(harness, GRACE.email, /Verify/);
    await page.goto(`/dashboard/verify?token=${token}`);
    await page.getByText('Verified. Thank you!').waitFor();
    // The second click on the link of a mail is no fault.
    await page.reload();
    await page.getByText(`${GRACE.email} is verified already.`).waitFor();
    await page.getByRole('link', { name: 'Go on' }).click();
    await page.getByText('Your first payment').waitFor();
    expect(await page.getByText('not verified yet').count()).toBe(0);
  });

  test('adds an endpoint, whose secret is shown once', async () => {
    const { receiver, page } = running();
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await button(page, 'Add endpoint').first().click();
    await page.getByLabel('URL').fill('ftp://example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .or(page.locator('[aria-invalid="true"]'))
      .first()
      .waitFor();
    await page.getByLabel('URL').fill(`${receiver.url}/hooks`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    expect(await page.getByText(/whsec_/).textContent()).toMatch(/^whsec_\S+$/);
    await button(page, 'I have kept it').click();
    await page.getByText(`${receiver.url}/hooks`).waitFor();
  });

  test('pays by the form with a quote beside it, and watches it complete without a reload', async () => {
    const { receiver, page } = running();
    await goTo(page, '/dashboard/payments/new');
    // Whatever is missing is said at once, and not field by field.
    await button(page, 'Send payment').click();
    await refusedAt(page, 'Amount in USD', 'An amount such as 25.00');
    await refusedAt(page, 'From payment method', 'The id of an account');
    await refusedAt(page, 'To payment method', 'The id of an account');
    await page.getByLabel('Amount in USD').fill('a lot');
    await page.getByLabel('From payment method').fill('pm_alice');
    await page.getByLabel('To payment method').fill('pm_bob');
    await page.getByLabel('Metadata').fill('order 7');
    // What cannot be sent is said at each of its fields.
    await button(page, 'Send payment').click();
    await refusedAt(page, 'Amount in USD', 'An amount such as 25.00');
    await refusedAt(page, 'Metadata', 'Each line must be key=value');
    await page.getByLabel('Metadata').fill('order=7');
    await page.getByLabel('Amount in USD').fill('1,250.00');
    await page.getByLabel('Description').fill('Invoice 7');
    await page.getByText('Why this rail').first().waitFor();
    const unanswered: ServerResponse[] = [];
    receiver.respond = (response) => unanswered.push(response);
    // Twice in a hurry is still one payment.
    await button(page, 'Send payment').dblclick();
    await page.waitForURL(/\/payments\/pay_/);
    await page.getByRole('heading', { level: 1, name: 'Payment of $1,250.00' }).waitFor();
    const loads: string[] = [];
    page.on('load', () => loads.push(page.url()));
    await page.locator('.mantine-Timeline-root').getByText('Completed').waitFor();
    expect(loads).toEqual([]);
    // RTP takes nothing back, so no outcome is offered any more.
    await expect.poll(() => button(page, 'Force it').count()).toBe(0);
    await page
      .getByRole('button', { name: /pacs\.008|nacha/ })
      .first()
      .waitFor();
    // Each of its events says what becomes of it at the endpoint, also when the answer comes late.
    const told = (status: string) =>
      page
        .getByRole('row', { name: new RegExp(`payment\\.completed.*${status}`) })
        .first()
        .waitFor();
    await told('Pending');
    receiver.respond = answer(204);
    for (const response of unanswered) response.writeHead(204).end();
    await told('Delivered');
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    await page
      .getByRole('link', { name: /^Payment pay_/ })
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: /^Payment pay_/ }).count()).toBe(1);
    // Accounts go by their names; who made them up by their ids finds those beside.
    await page
      .getByRole('row', { name: /Test Account\s····\s\d{4} pm_alice.*Test Account\s····\s\d{4} pm_bob/ })
      .waitFor();
  });

  test('is told at the amount what is too much, and at the rail that none leads there', async () => {
    const { harness, page } = running();
    await goTo(page, '/dashboard/payments/new?from=pm_alice&to=pm_test_no_rtp');
    await page.getByLabel('Amount in USD').fill('100,000,000.00');
    await button(page, 'Send payment').click();
    await refusedAt(page, 'Amount in USD', /\$99,999,999\.99/);
    await page.getByLabel('Amount in USD').fill('25.00');
    await page.getByText('Why this rail').first().waitFor();
    const { rowCount } = await harness.database.query(
      "update payment_methods set rails_receive = '{}' where id = 'pm_test_no_rtp'",
    );
    expect(rowCount).toBe(1);
    await button(page, 'Send payment').click();
    // In sentences, with the next step; the codes are for programs.
    const why =
      /No rail can carry this payment\. RTP: the destination account cannot receive by it\..* Pay to another account\./;
    await refusedAt(page, 'Rail', why);
    // The API names the field itself where one rail was asked for.
    await page.getByRole('combobox', { name: 'Rail' }).click();
    await page.getByRole('option', { name: 'RTP' }).click();
    await button(page, 'Send payment').click();
    const whyNotThis = /RTP cannot carry this payment: the destination account cannot receive by it\./;
    await refusedAt(page, 'Rail', whyNotThis);
    // The quote beside it says the same.
    await page.getByRole('alert').getByText(whyNotThis).waitFor();
    expect(await page.getByText('destination_cannot_receive').count()).toBe(0);
  });

  test('makes a key, which works, and stops working within a second of being revoked', async () => {
    const { harness, page } = running();
    const key = await makeKey(page, 'Till');
    expect(key).toMatch(/^sk_test_/);
    expect((await harness.call('GET', '/v1/payments', { key })).status).toBe(200);
    await page.getByRole('row', { name: /Till/ }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /Till.*Revoked/ }).waitFor();
    const revokedMs = performance.now();
    let lastTakenAfterMs = 0;
    const tryKey = async () => {
      const begunMs = performance.now();
      const { status } = await harness.call('GET', '/v1/payments', { key });
      if (status === 200) lastTakenAfterMs = begunMs - revokedMs;
      return status;
    };
    await expect.poll(tryKey, { timeout: 20_000 }).toBe(401);
    expect(lastTakenAfterMs).toBeLessThan(1_000);
  });

  test('the walk-through has gone when all of it is done', async () => {
    const { page, kept } = running();
    kept.serverKey = await makeKey(page, 'Server');
    await goTo(page, '/dashboard');
    await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
    await expect.poll(() => page.getByText('Your first payment').count()).toBe(0);
  });
}
