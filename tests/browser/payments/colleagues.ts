// Who else may look.
import { expect, test } from 'vitest';
import { nextMail } from '../../contract/payments/person.ts';
import { goTo, openPage } from '../chromium.ts';
import { GRACE, type Running } from './rig.ts';
import { button, refusedAt } from './steps.ts';

export function testColleagues(running: () => Running): void {
  test('invites a viewer, who sees payments and can write nothing, whatever is called', async () => {
    const { harness, chromium, receiver, url, page, kept } = running();
    await goTo(page, '/dashboard/live/team');
    await button(page, 'Invite').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill(GRACE.email);
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await refusedAt(page, 'E-mail', 'Somebody with this e-mail address is a member already.');
    await dialog.getByLabel('E-mail').fill('viewer@example.com');
    await dialog.getByRole('radio', { name: /Viewer/ }).click();
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('row', { name: /viewer@example\.com/ }).waitFor();
    const { token } = await nextMail(harness, 'viewer@example.com', /invite/i);
    const viewer = await openPage(chromium, url);
    await viewer.page.goto(`/dashboard/invitation?token=${token}`);
    await viewer.page.getByText('Compilers invites you. Your role: Viewer.').waitFor();
    await viewer.page.getByLabel('Name').fill('Jean Bartik');
    await viewer.page.getByLabel('Password').fill(GRACE.password);
    await viewer.page.getByRole('button', { name: 'Sign up and join' }).click();
    await viewer.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await goTo(viewer.page, '/dashboard/payments');
    await viewer.page
      .getByRole('link', { name: /^Payment pay_/ })
      .first()
      .waitFor();
    expect(await viewer.page.getByRole('link', { name: 'New payment' }).count()).toBe(0);
    await goTo(viewer.page, '/dashboard/payments/new');
    await viewer.page.getByText('Viewers make no payments').waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Send payment' }).count()).toBe(0);
    await goTo(viewer.page, kept.failedPath);
    await viewer.page.getByText('Why it did not work').waitFor();
    expect(await viewer.page.getByRole('link', { name: 'Try again' }).count()).toBe(0);
    await goTo(viewer.page, '/dashboard/team');
    await viewer.page.getByRole('row', { name: /Grace Hopper.*Owner/ }).waitFor();
    // Everybody may leave, and nobody but an owner sends others away.
    expect(await viewer.page.getByRole('button', { name: 'Leave' }).count()).toBe(1);
    expect(await viewer.page.getByRole('button', { name: 'Remove' }).count()).toBe(0);
    const refused = await viewer.page.request.post('/v1/webhook_endpoints', {
      data: { url: receiver.url },
      headers: { 'payments-mode': 'test' },
    });
    expect(refused.status()).toBe(403);
    expect((await viewer.page.request.get('/v1/keys')).status()).toBe(403);
    expect(viewer.faults).toEqual([]);
    await viewer.page.context().close();
  });
}
