// What the operator of the service does.
import { expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { seriousViolations } from '../axe.ts';
import { openPage, timesWithoutZone } from '../chromium.ts';
import { ADA, type Running } from './rig.ts';
import { addDeadLetters } from './seed.ts';
import { heading, STEP_MS } from './steps.ts';

export function testOperator(running: () => Running): void {
  test('[TH-11.36] the operator finds a customer, its invoices, plans, dead letters, jobs and platforms', {
    timeout: 60_000,
  }, async () => {
    const { hub, chromium } = running();
    const operator = await openPage(chromium, hub.url);
    const { page: shown } = operator;
    shown.setDefaultTimeout(STEP_MS);
    await shown.goto('/admin/customers');
    await shown.getByLabel('Admin token').fill('wrong');
    await shown.getByRole('button', { name: 'Enter' }).click();
    await shown.getByRole('alert').waitFor();
    await shown.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await shown.getByRole('button', { name: 'Enter' }).click();
    await shown.getByRole('button', { name: `Open ${ADA.email}` }).click();
    await shown.getByRole('dialog').getByText('INV-').first().waitFor();
    await shown.getByRole('dialog').getByRole('button', { name: 'Mark as paid' }).click();
    await shown.getByRole('dialog').nth(1).waitFor();
    await shown.getByRole('dialog').last().getByRole('button', { name: 'Mark as paid' }).click();
    await shown.getByText('Paid', { exact: true }).first().waitFor();
    await shown.keyboard.press('Escape');
    // Before the list is first looked at: a list that was just read is not asked for again.
    const { rows } = await hub.database.database.query<{ id: string }>(
      'select id from customers where email = $1',
      [ADA.email],
    );
    const customerId = rows[0]?.id ?? '';
    await addDeadLetters(hub, customerId, 1);
    for (const [tab, text] of [
      ['Plans', 'Starter (starter)'],
      ['Invoices', 'Invoice run'],
      ['Dead letters', 'Customers whose webhooks did not answer'],
      ['Jobs', 'invoices.monthly'],
      ['Platforms', 'Whether the platforms answer'],
    ] as const) {
      await shown.getByRole('tab', { name: tab }).click();
      await shown.getByText(text).first().waitFor();
      expect(await seriousViolations(shown, undefined, '[role=tabpanel]'), tab).toEqual([]);
      expect(await timesWithoutZone(shown), tab).toEqual([]);
    }
    await shown.getByRole('tab', { name: 'Invoices' }).click();
    await shown.getByRole('button', { name: 'Run' }).click();
    await shown.getByText('Would create').waitFor();
    await shown.getByRole('tab', { name: 'Plans' }).click();
    await shown.getByRole('button', { name: 'Make a plan' }).click();
    await shown.getByRole('dialog').getByLabel('Name').fill('Team');
    await shown.getByRole('dialog').getByLabel('Id').fill('team');
    await shown.getByRole('dialog').getByLabel('A month').fill('99');
    // What was emptied is asked for, and not taken for none at all.
    const calls = shown.getByRole('dialog').getByLabel('Calls included');
    await calls.fill('');
    await shown.getByRole('button', { name: 'Save the plan' }).click();
    await expect.poll(() => calls.getAttribute('aria-invalid')).toBe('true');
    await calls.pressSequentially('50.000');
    await expect.poll(() => calls.inputValue()).toBe('50,000');
    await shown.getByRole('button', { name: 'Save the plan' }).click();
    await shown.getByRole('row', { name: /Team \(team\) \$99\.00/ }).waitFor();
    await shown.getByRole('tab', { name: 'Dead letters' }).click();
    await shown.getByRole('button', { name: ADA.email, exact: true }).click();
    await shown.getByRole('dialog').getByRole('row', { name: /hooks/ }).first().waitFor();
    expect(await timesWithoutZone(shown)).toEqual([]);
    const before = hub.receiver.at('/hooks').length;
    await shown.getByRole('dialog').getByRole('button', { name: 'Send again' }).first().click();
    await shown.getByText('On its way again.').waitFor();
    await expect.poll(() => hub.receiver.at('/hooks').length).toBeGreaterThan(before);
    expect(operator.faults).toEqual([]);
    await shown.context().close();
  });

  test('[TH-11.36] the customer finds it in the log by the number of the invoice, which leads to its lines', {
    timeout: 60_000,
  }, async () => {
    const { page } = running();
    await page.goto('/audit?action=invoice.paid');
    await page.getByRole('link', { name: /^INV-\d{6}, \w+ \d{4}$/ }).click();
    await heading(page, 'Invoice');
    await page.reload();
    await page.getByRole('heading', { level: 2, name: /^INV-\d{6}$/ }).waitFor();
    await page.getByRole('row', { name: /^Starter.* \$29\.00$/ }).waitFor();
    await page.getByRole('row', { name: 'Total $29.00' }).waitFor();
    await page.getByRole('link', { name: /^PDF INV-/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await timesWithoutZone(page)).toEqual([]);
    await page.getByRole('link', { name: 'All invoices' }).click();
    await heading(page, 'Billing');
    await page.getByRole('link', { name: /^INV-\d{6}$/ }).waitFor();
  });
}
