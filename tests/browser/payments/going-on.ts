// Pages that somebody comes to, reads or fills in half: they lead on, and take nothing for what it is not.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Harness } from '../../contract/payments/harness.ts';
import { nextMail, PASSWORD, signUp, verifyAddress } from '../../contract/payments/person.ts';
import { sidewaysPixels } from '../chromium.ts';

export interface Mishaps {
  dashboard: Harness;
  owner: Awaited<ReturnType<typeof signUp>>;
  /** A window of whoever has this cookie. */
  openAs: (cookie: string | undefined) => Promise<Page>;
}

export function testGoingOn(running: () => Mishaps): void {
  /** The session ends, which the page hears by what is pressed next; then somebody logs in again. */
  async function endSession(page: Page, person: Mishaps['owner'], press: () => Promise<void>) {
    const { pathname } = new URL(page.url());
    await page.context().clearCookies();
    await press();
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.waitForURL(`**${pathname}`);
  }

  test('a key whose end is filled in half, or is no moment, is not made: it would never expire', async () => {
    const { owner, openAs } = running();
    const page = await openAs(owner.cookie);
    await page.goto('/dashboard/keys');
    const made: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/keys'))
        made.push(request.postDataJSON());
    });
    await page.getByRole('button', { name: 'Make a key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Ends one day');
    const end = dialog.getByLabel('Expires');
    const make = dialog.getByRole('button', { name: 'Make a key' });
    const isAskedFor = async () => {
      await make.click();
      await dialog.getByText('A day and a time').waitFor();
      await end.and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    };
    await end.pressSequentially('11062031');
    await isAskedFor();
    await end.fill('12031-11-06T12:05');
    await isAskedFor();
    expect(made).toEqual([]);
    await end.fill('2031-11-06T12:05');
    await make.click();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    expect(made).toMatchObject([{ expires_at: expect.stringMatching(/^2031-11-0/) }]);
    await page.context().close();
  });

  test('an invitation that is opened by somebody else says whom it is for, and leads on as that person', async () => {
    const { dashboard, owner, openAs } = running();
    const email = 'betty.of.the.first.programmers@sorting.example.com';
    const invited = await signUp(dashboard, { email, name: 'Betty Holberton', organisation: 'Sorting' });
    await verifyAddress(dashboard, invited);
    const other = await signUp(dashboard, { name: 'Kay McNulty', organisation: 'Ballistics' });
    const made = await owner.call('POST', '/v1/invitations', { email: invited.email, role: 'viewer' });
    expect(made.status).toBe(201);
    const { token } = await nextMail(dashboard, invited.email, /invite/i);
    const page = await openAs(other.cookie);
    await page.goto(`/dashboard/invitation?token=${token}`);
    await page.getByText(`It is for ${invited.email}; you are logged in as ${other.email}.`).waitFor();
    expect(await page.getByRole('button', { name: /^Join as/ }).count()).toBe(0);
    // Addresses are longer than a line of a phone.
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await sidewaysPixels(page)).toBe(0);
    await page.getByRole('button', { name: `Log out and go on as ${invited.email}` }).click();
    await page.getByRole('button', { name: 'Sign up and join' }).waitFor();
    expect((await other.call('GET', '/v1/session')).status).toBe(401);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByLabel('E-mail').fill(invited.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('button', { name: `Join as ${invited.email}` }).click();
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await page.getByRole('button', { name: /Switch organisation: Engines/ }).waitFor();
    await page.context().close();
  });

  test('who is led to the log-in can go back to where they came from', async () => {
    const { dashboard, openAs } = running();
    const person = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Engines' });
    const page = await openAs(person.cookie);
    await page.goto('/dashboard/forgot');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.goto('/dashboard/payments');
    await page.getByText('No payments yet').waitFor();
    await person.call('POST', '/v1/session/logout', {});
    await page.getByRole('link', { name: 'Events' }).click();
    const isAtLoginFrom = (path: string) =>
      page.waitForURL(
        ({ pathname, searchParams }) => pathname.endsWith('/login') && searchParams.get('next') === path,
      );
    await isAtLoginFrom('/dashboard/events');
    await page.evaluate('history.back()');
    await isAtLoginFrom('/dashboard/payments');
    await page.evaluate('history.back()');
    await page.waitForURL('**/dashboard/forgot');
    await page.context().close();
  });

  test('who chooses a new password on the way to a page comes there after the log-in', async () => {
    const { dashboard, openAs } = running();
    const person = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Engines' });
    await verifyAddress(dashboard, person);
    let page = await openAs(person.cookie);
    const context = page.context();
    await context.clearCookies();
    // Of live mode, while the link in the mail is of none.
    const meant = '/dashboard/live/payments?status=failed';
    const isAt = (end: string) =>
      page.waitForURL(
        ({ pathname, searchParams }) => pathname.endsWith(end) && searchParams.get('next') === meant,
      );
    const follow = (link: string) => page.getByRole('link', { name: link }).click();
    await page.goto(meant);
    await isAt('/login');
    await follow('Forgot your password?');
    await isAt('/forgot');
    await follow('Back to the log-in');
    await isAt('/login');
    await follow('Forgot your password?');
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    const { token } = await nextMail(dashboard, person.email, /password/i);
    await page.getByText('the mail is on its way').waitFor();
    await page.goto(`/dashboard/reset?token=${token}`);
    await follow('The link no longer works? Get another one.');
    await isAt('/forgot');
    // As the link of a mail opens: in another tab.
    await page.close();
    page = await context.newPage();
    await page.goto(`/dashboard/reset?token=${token}`);
    await page.getByRole('textbox', { name: 'Password' }).fill(`another ${PASSWORD}`);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await isAt('/login');
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(`another ${PASSWORD}`);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    expect(page.url()).toBe(new URL(meant, page.url()).href);
    await page.context().close();
  });

  test('a browser that keeps nothing for pages lets in as any other', async () => {
    const { dashboard, openAs } = running();
    const person = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Engines' });
    for (const answer of ["throw new DOMException('denied', 'SecurityError')", 'return null']) {
      const page = await openAs(person.cookie);
      await page.context().clearCookies();
      await page.addInitScript(`for (const name of ['sessionStorage', 'localStorage'])
        Object.defineProperty(window, name, { get() { ${answer} } });`);
      await page.goto('/dashboard/forgot?next=/dashboard/events');
      await page.getByLabel('E-mail').fill('nobody@example.com');
      await page.getByRole('button', { name: 'Send the link' }).click();
      await page.getByText('the mail is on its way').waitFor();
      await page.goto('/dashboard/reset?token=none');
      await page.getByRole('textbox', { name: 'Password' }).waitFor();
      await page.goto('/dashboard/login?next=/dashboard/events');
      await page.getByLabel('E-mail').fill(person.email);
      await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
      await page.getByRole('button', { name: 'Your account' }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).click();
      await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
      await page.context().close();
    }
  });

  test('a payment that is filled in again after the log-in has its quote, too, without a field being touched', async () => {
    const { dashboard, openAs } = running();
    const person = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Engines' });
    const page = await openAs(person.cookie);
    await page.goto('/dashboard/payments/new');
    await page.getByLabel('Amount in USD').fill('23.23');
    await page.getByLabel('From payment method').fill('pm_alice');
    await page.getByLabel('To payment method').fill('pm_bob');
    await endSession(page, person, () => page.getByRole('button', { name: 'Send payment' }).click());
    await page.getByText('What you had typed').waitFor();
    expect(await page.getByLabel('To payment method').inputValue()).toBe('pm_bob');
    await page.getByText('Why this rail').first().waitFor();
    // Half an id is no account that the sandbox should make.
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/quote')) asked.push(request.postDataJSON().destination.payment_method_id);
    });
    await page.getByLabel('To payment method').fill('');
    await page.getByLabel('To payment method').pressSequentially('pm_carol', { delay: 150 });
    await page.getByLabel('Description').focus();
    await expect.poll(() => asked.at(-1)).toBe('pm_carol');
    expect(asked.filter((id) => id !== 'pm_bob' && id !== 'pm_carol')).toEqual([]);
    await page.context().close();
  });

  test('a time for the clock and the kind of a payment method are there again after the log-in', async () => {
    const { dashboard, openAs } = running();
    const person = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Engines' });
    const page = await openAs(person.cookie);
    await page.goto('/dashboard/sandbox');
    await page.getByLabel('Set to').fill('2031-11-06T12:05:00');
    await endSession(page, person, () => page.getByRole('button', { name: 'Set', exact: true }).click());
    await expect.poll(() => page.getByLabel('Set to').inputValue()).toMatch(/^2031-11-06T12:05/);
    await page.goto('/dashboard/payment-methods');
    const add = () => page.getByRole('button', { name: 'Add payment method' }).first().click();
    const dialog = page.getByRole('dialog');
    await add();
    await dialog.getByText('Balance', { exact: true }).click();
    await endSession(page, person, () => dialog.getByRole('button', { name: 'Add', exact: true }).click());
    await add();
    await dialog.getByText('What you had typed').waitFor();
    expect(await dialog.getByRole('radio', { name: 'Balance' }).isChecked()).toBe(true);
    await page.context().close();
  });

  test('an endpoint of which one field is edited keeps what a colleague made of the others meanwhile', async () => {
    const { dashboard, owner, openAs } = running();
    const made = await owner.call('POST', '/v1/webhook_endpoints', { url: `${dashboard.url}/one` });
    const path = `/v1/webhook_endpoints/${made.body.id}`;
    const page = await openAs(owner.cookie);
    await page.goto(`/dashboard/webhooks/${made.body.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(`${dashboard.url}/two`);
    const meanwhile = { events: ['payment.failed'], description: 'Till' };
    await owner.call('PATCH', path, meanwhile);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { body } = await owner.call('GET', path);
    expect(body).toMatchObject({ ...meanwhile, url: `${dashboard.url}/two` });
    await page.context().close();
  });

  test('a delivery that is read stays open when it leaves the page of the list, and does not open again by itself', async () => {
    const { dashboard, owner, openAs } = running();
    const endpoint = await owner.call('POST', '/v1/webhook_endpoints', { url: `${dashboard.url}/hooks` });
    expect(
      (await owner.call('POST', `/v1/webhook_endpoints/${endpoint.body.id}/test`, {})).status,
    ).toBeLessThan(300);
    const page = await openAs(owner.cookie);
    let isGone = false;
    const deliveries = `**/v1/webhook_endpoints/${endpoint.body.id}/deliveries*`;
    await page.route(deliveries, (route) =>
      isGone
        ? route.fulfill({ json: { object: 'list', data: [], has_more: false, next_cursor: null } })
        : route.continue(),
    );
    await page.goto(`/dashboard/webhooks/${endpoint.body.id}`);
    const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('button').first();
    await row.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('webhook-signature').waitFor();
    isGone = true;
    await page.getByText('Nothing was sent yet').waitFor();
    expect(await dialog.getByText('webhook-signature').count()).toBe(1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    isGone = false;
    await row.waitFor();
    expect(await dialog.count()).toBe(0);
    await page.context().close();
  });

  test('the link of a mail leads to its page in the organisation that it is about, over the log-in, too', async () => {
    const { dashboard, openAs } = running();
    const person = await signUp(dashboard, { name: 'Ada Lovelace', organisation: 'Weavers' });
    await verifyAddress(dashboard, person);
    const body = { url: `${dashboard.url}/hooks`, description: 'Told of by mail' };
    const { body: endpoint } = await person.call('POST', '/v1/webhook_endpoints', body);
    // From now on the session is that of another organisation.
    expect((await person.call('POST', '/v1/session/organisations', { name: 'Spinners' })).status).toBe(201);
    const pathname = `/dashboard/webhooks/${endpoint.id}`;
    const page = await openAs(person.cookie);
    const isThere = async () => {
      await page.getByText('Told of by mail').first().waitFor();
      await page.getByRole('button', { name: /Switch organisation: Weavers/ }).waitFor();
      await expect.poll(() => page.url().replace(/^.*(?=\/dashboard)/, '')).toBe(pathname);
    };
    await page.goto(`${pathname}?organisation=${person.organisationId}`);
    await isThere();
    await page.context().clearCookies();
    await page.goto(`${pathname}?organisation=${person.organisationId}`);
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await isThere();
    // One that the person does not belong to changes nothing.
    await page.goto(`/dashboard/webhooks?organisation=${person.organisationId.slice(0, -1)}0`);
    await page.getByText('Told of by mail').first().waitFor();
    await page.context().close();
  });
}
