// A session that ends, and the ways back in.
import { expect, test } from 'vitest';
import { goTo } from '../chromium.ts';
import { GRACE, type Running } from './rig.ts';
import { button } from './steps.ts';

export function testLoggingIn(running: () => Running): void {
  test('an ended session leads to the log-in, and back to where one was', async () => {
    const { page } = running();
    await page.context().clearCookies();
    await page.goto('/dashboard/payments?status=completed');
    await page.waitForURL(/\/dashboard\/login\?next=/);
    await page.getByLabel('E-mail').fill(GRACE.email);
    await page.getByLabel('Password').fill('not the password');
    await button(page, 'Log in').first().click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(GRACE.password);
    await button(page, 'Log in').first().click();
    await page.waitForURL(/\/dashboard\/payments\?status=completed/);
    await page
      .getByRole('link', { name: /^Payment pay_/ })
      .first()
      .waitFor();
  });

  test('adds a passkey, and logs in with it instead of the password', async () => {
    const { page } = running();
    const device = await page.context().newCDPSession(page);
    await device.send('WebAuthn.enable');
    await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await goTo(page, '/dashboard/settings');
    // A wrong password is said where it was typed.
    const current = page.getByRole('textbox', { name: 'Current password' });
    await current.fill('not the password');
    await page.getByRole('textbox', { name: 'New password' }).fill('a sentence that is new');
    await button(page, 'Change password').click();
    await expect.poll(() => current.getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name of the passkey').fill('Laptop');
    const own = page.getByRole('textbox', { name: 'Your password' });
    await own.fill('not the password');
    await button(page, 'Add a passkey').click();
    await expect.poll(() => own.getAttribute('aria-invalid')).toBe('true');
    await own.fill(GRACE.password);
    await button(page, 'Add a passkey').click();
    await page.getByRole('row', { name: /Laptop/ }).waitFor();
    // A device has one passkey for an account, and says so.
    await page.getByLabel('Name of the passkey').fill('Laptop again');
    await own.fill(GRACE.password);
    await button(page, 'Add a passkey').click();
    await page.getByText('This device has a passkey for your account already.').waitFor();
    const demand = page.getByLabel('Ask for a passkey after the password, too');
    // Neither a demand for it nor its removal is had for the session alone.
    await demand.click();
    const dialog = page.getByRole('dialog');
    const asked = dialog.getByRole('textbox', { name: 'Your password' });
    await asked.fill('not the password');
    await dialog.getByRole('button', { name: 'Ask for it' }).click();
    await expect.poll(() => asked.getAttribute('aria-invalid')).toBe('true');
    await asked.fill(GRACE.password);
    await dialog.getByRole('button', { name: 'Ask for it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => demand.isChecked()).toBe(true);
    await demand.click();
    await asked.fill(GRACE.password);
    await dialog.getByRole('button', { name: 'Let it in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => demand.isChecked()).toBe(false);
    await button(page, 'Your account').click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await button(page, 'Use a passkey instead').click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });
}
