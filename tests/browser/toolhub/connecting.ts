// From the front door to accounts that are connected.
import { expect, test } from 'vitest';
import { ADA, type Running, VENDOR_TOKEN } from './rig.ts';
import { go, heading, said } from './steps.ts';

export function testConnecting(running: () => Running): void {
  test('[TH-11.21] from the front door to an account, verified by the link in the mail', {
    timeout: 60_000,
  }, async () => {
    const { hub, page } = running();
    await page.goto('/');
    await page.getByRole('link', { name: 'Sign up' }).first().click();
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('E-mail').fill(ADA.email);
    await page.getByRole('textbox', { name: 'Password' }).fill('short');
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('10').first().waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill(ADA.password);
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('First steps').waitFor();
    await page.goto(await hub.linkInMail(ADA.email));
    await page.getByText('Verified. Thank you!').waitFor();
    await page.getByRole('link', { name: 'Go on' }).click();
    await heading(page, 'Overview');
    expect(await page.getByText('Please open the link').count()).toBe(0);
  });

  test('[TH-11.22] an account is connected by a form that tries it first', { timeout: 60_000 }, async () => {
    const { page } = running();
    await page.getByRole('link', { name: 'Connect an account' }).first().click();
    await heading(page, 'Connections');
    await page.getByRole('link', { name: 'Connect: Mastodon' }).click();
    await heading(page, 'Mastodon');
    await page.getByLabel('Instance URL').fill('https://social.test');
    await page.getByLabel('Access token').fill('wrong');
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Access token').fill(VENDOR_TOKEN);
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await page.getByText('@ada@social.test').waitFor();
  });

  test('[TH-11.32] a mailbox is connected: what is wrong is said at its place, and nothing is stored until it works', {
    timeout: 60_000,
  }, async () => {
    const { hub, page } = running();
    const { address, password, imapPort, smtpPort } = hub.mailbox;
    await go(page, 'Connections');
    await page.getByRole('link', { name: 'Connect: E-mail' }).click();
    await heading(page, 'E-mail');
    const side = (name: string) => page.getByRole('group', { name });
    const fill = async (name: string, host: string, port: number) => {
      await side(name).getByLabel('Server').fill(host);
      await side(name).getByLabel('Port').fill(String(port));
      await side(name).getByLabel('Encrypted from the start').setChecked(false);
    };
    await page.getByLabel('Your address').fill(address);
    await side('Reading (IMAP)').getByLabel('User name').fill(address);
    await side('Reading (IMAP)').getByRole('textbox', { name: 'Password' }).fill('wrong');
    await fill('Reading (IMAP)', '10.0.0.7', 143);
    await fill('Sending (SMTP)', '10.0.0.7', 587);
    const connect = page.getByRole('button', { name: 'Test and connect' });
    await connect.click();
    await page.getByText('TOOLHUB_EGRESS_ALLOW').first().waitFor();
    await fill('Reading (IMAP)', '127.0.0.1', imapPort);
    await fill('Sending (SMTP)', '127.0.0.1', smtpPort);
    await connect.click();
    await said(page, /password|log ?in|accept|refuse/i);
    expect(await page.getByText('What the last check said').count()).toBe(0);
    await side('Reading (IMAP)').getByRole('textbox', { name: 'Password' }).fill(password);
    await connect.click();
    await page.getByRole('heading', { name: 'Connection', exact: true }).waitFor();
    await page.getByText('OK', { exact: true }).waitFor();
  });

  test('[TH-11.32] a vendor that is down is said so where one connects', { timeout: 60_000 }, async () => {
    const { page } = running();
    await page.goto('/connections/bluesky');
    await page.getByLabel('Service').fill('https://bsky.social');
    await page.getByLabel('Identifier').fill('ada.bsky.social');
    await page.getByLabel('App password').fill('abcd-efgh-ijkl-mnop');
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await said(page, /not answer|unavailable|reach/i);
    expect(await page.getByRole('button', { name: 'Disconnect' }).count()).toBe(0);
  });
}
