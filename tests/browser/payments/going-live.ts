// From test to live.
import { expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../../contract/payments/harness.ts';
import { goTo } from '../chromium.ts';
import type { Running } from './rig.ts';
import { button, makeKey } from './steps.ts';

export function testGoingLive(running: () => Running): void {
  test('[P-9.15] test and live are never confused: another address, another word, nothing shared', async () => {
    const { page } = running();
    await goTo(page, '/dashboard/payments');
    await page.getByRole('button', { name: 'Mode: Test' }).click();
    await page.getByRole('menuitem', { name: 'Switch to live mode' }).click();
    await page.waitForURL(/\/dashboard\/live\/payments/);
    await page.getByRole('button', { name: 'Mode: Live' }).waitFor();
    await page.getByText('No payments yet').waitFor();
    expect(await page.getByText('test accounts are made as you type').count()).toBe(0);
    await page.getByText('payments here move real money').waitFor();
  });

  test('asks for live access, and makes a live key once the operator has approved', async () => {
    const { harness, page } = running();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('Live keys need live access').waitFor();
    await page.getByRole('link', { name: 'To the settings' }).click();
    await page.getByLabel('What you will use it for').fill('A shop for compilers');
    await button(page, 'Ask for live access').click();
    await page.getByText('Asked for; we are looking at your organisation.').waitFor();
    const session = await page.request.get('/v1/session').then((response) => response.json());
    const path = `/v1/admin/organisations/${session.organisation.id}/live_access`;
    const why = { approved: false, reason: 'Tell us how much you expect to move.' };
    await harness.call('POST', path, { key: ADMIN_TOKEN, body: why });
    // A refusal says why, and one can ask again.
    await page.getByText(`The answer: ${why.reason}`).waitFor();
    await button(page, 'Ask for live access').click();
    await page.getByText('Asked for; we are looking at your organisation.').waitFor();
    const approved = await harness.call('POST', path, { key: ADMIN_TOKEN, body: { approved: true } });
    expect(approved.status).toBe(200);
    // Whoever waits for it on the page hears of it there.
    await page.getByText('Approved: you can make live keys.').waitFor();
    expect(await makeKey(page, 'Shop')).toMatch(/^sk_live_/);
  });
}
