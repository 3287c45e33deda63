// Nothing that somebody chose, asked for or was given is lost by being quick, by closing a dialog or by going back.
import type { Dialog, Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { authorizeUrl, newPkce, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { isDrawn, openPage } from '../chromium.ts';
import type { Serving } from './rig.ts';
import { connectMastodon, waitForApproval } from './seed.ts';
import { go, heading, panel, STEP_MS, said } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;

interface Rules {
  send: boolean;
  delete: boolean;
  tools: Record<string, boolean>;
}

const refusal = (detail: string, errors: object[] = []) => ({
  ...{ status: 422, contentType: 'application/problem+json' },
  body: JSON.stringify({
    ...{ type: 'about:blank', title: 'Refused', status: 422, code: 'invalid_request' },
    ...{ detail, errors, request_id: 'req_1' },
  }),
});

export function testNotLost(running: () => Serving): void {
  async function openAs({ cookie }: Account): Promise<Page> {
    const { hub, chromium } = running();
    const { page } = await openPage(chromium, hub.url);
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: hub.url }]);
    page.setDefaultTimeout(STEP_MS);
    return page;
  }

  /** Requests of this method to this address are answered when the test says how. */
  async function hold(page: Page, method: string, address: string) {
    const asked = Promise.withResolvers<Route>();
    await page.route(address, (route) =>
      route.request().method() === method ? asked.resolve(route) : route.continue(),
    );
    return asked.promise;
  }

  const rulesOf = async ({ cookie }: Account) =>
    (await call<Rules>(`${running().hub.url}/api/approvals/rules`, { cookie })).body;

  test('rules of approval that are changed quickly one after another are all kept, and shown at once', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const account = await signUp(running().hub.url);
    const page = await openAs(account);
    const chosen = Promise.withResolvers<void>();
    await page.route('**/api/approvals/rules', async (route) => {
      if (route.request().method() === 'PUT') await chosen.promise;
      return route.continue();
    });
    await page.goto('/approvals');
    const rules = panel(page, 'What must be asked for');
    const switches = [/sends or publishes/, /deletes or overwrites/].map((name) =>
      rules.getByRole('switch', { name }),
    );
    for (const each of switches) {
      await each.press('Space');
      await expect.poll(() => each.isChecked()).toBe(true);
    }
    await rules.getByPlaceholder('None').first().click();
    const options = page.getByRole('option');
    for (const index of [0, 1]) {
      await options.nth(index).click();
      await expect.poll(() => options.nth(index).getAttribute('aria-selected')).toBe('true');
    }
    chosen.resolve();
    await expect.poll(async () => Object.values((await rulesOf(account)).tools)).toEqual([true, true]);
    expect(await rulesOf(account)).toMatchObject({ send: true, delete: true });
    // One that is taken away again leaves the others, also those that another window named meanwhile.
    const { tools } = await rulesOf(account);
    const removed = await options.nth(0).getAttribute('value');
    await call(`${running().hub.url}/api/approvals/rules`, {
      ...{ method: 'PUT', cookie: account.cookie },
      body: { send: true, delete: true, tools: { ...tools, telegram_send_message: false } },
    });
    await options.nth(0).click();
    await expect
      .poll(async () => Object.values((await rulesOf(account)).tools).sort())
      .toEqual([false, true]);
    const [left = ''] = Object.keys(tools).filter((name) => name !== removed);
    expect((await rulesOf(account)).tools).toEqual({ [left]: true, telegram_send_message: false });
    await page.context().close();
  });

  test('the call that an address names is there after a log-in with a password that was chosen on the way', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub, chromium } = running();
    const account = await signUp(hub.url);
    await connectMastodon(hub, account);
    await waitForApproval(hub.url, account, (await makeToken(hub.url, account)).token);
    const { body } = await call<{ data: { id: string }[] }>(`${hub.url}/api/approvals`, account);
    const meant = `/approvals?id=${body.data[0]?.id}`;
    const { page } = await openPage(chromium, hub.url);
    page.setDefaultTimeout(STEP_MS);
    // Of an account whose address nobody proved, a new password would leave no calls: they may be a stranger's.
    await page.goto(await hub.linkInMail(account.email, 'verify'));
    await page.getByText('Verified. Thank you!').waitFor();
    await page.goto(meant);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail').fill(account.email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('the mail is on its way').waitFor();
    await page.goto(await hub.linkInMail(account.email, 'reset'));
    await page.getByRole('textbox', { name: 'Password' }).fill(`another ${PASSWORD}`);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByLabel('E-mail').fill(account.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(`another ${PASSWORD}`);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('Shall this go out?').waitFor();
    expect(page.url()).toBe(`${hub.url}${meant}`);
    await page.context().close();
  });

  test('who forgot the password on the way to a client comes back to its consent from the mail, in another tab', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub, chromium } = running();
    const account = await signUp(hub.url);
    const client = await registerClient(hub.url, { client_name: 'A desktop client' });
    const { page } = await openPage(chromium, hub.url);
    await page.goto(authorizeUrl(hub.url, client, newPkce()));
    await page.getByRole('link', { name: 'Log in with a passkey, or set a new password' }).click();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail').fill(account.email);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('the mail is on its way').waitFor();
    const tab = await page.context().newPage();
    tab.setDefaultTimeout(STEP_MS);
    await tab.goto(await hub.linkInMail(account.email, 'reset'));
    await tab.getByRole('textbox', { name: 'Password' }).fill(`another ${PASSWORD}`);
    await tab.getByRole('button', { name: 'Set the password' }).click();
    await tab.getByLabel('E-mail').fill(account.email);
    await tab.getByRole('textbox', { name: 'Password' }).fill(`another ${PASSWORD}`);
    await tab.getByRole('button', { name: 'Log in', exact: true }).click();
    await tab.getByRole('heading', { name: 'A desktop client wants to use your Toolhub account' }).waitFor();
    await page.context().close();
  });

  test('what was typed to connect an account is there again after the log-in, but for its token', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const page = await openAs(account);
    await page.goto('/connections/mastodon');
    await page.getByLabel('Instance URL').fill('https://social.test');
    await page.getByLabel('Access token').fill('typed');
    await call(`${hub.url}/api/auth/logout`, { cookie: account.cookie, body: {} });
    await page.getByRole('button', { name: 'Test and connect' }).click();
    await page.getByLabel('E-mail').fill(account.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('What you had typed').waitFor();
    expect(await page.getByLabel('Instance URL').inputValue()).toBe('https://social.test');
    expect(await page.getByLabel('Access token').inputValue()).toBe('');
    await page.context().close();
  });

  test('no password is put aside, whatever its field is called, when the session ends in the middle of a form', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const page = await openAs(account);
    await page.goto('/settings');
    const secrets = ['what opens the door', 'what shall open it'];
    for (const [index, name] of ['Current password', 'New password'].entries())
      await page.getByLabel(name, { exact: true }).fill(secrets[index] ?? '');
    // Shown or not, it is one.
    await panel(page, 'Password').getByRole('button', { name: 'Show', includeHidden: true }).first().click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Typed before it ended');
    await call(`${hub.url}/api/auth/logout`, { cookie: account.cookie, body: {} });
    await page.getByRole('button', { name: 'Change password' }).click();
    await heading(page, 'Log in');
    const kept = await page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
    expect(kept).toContain('Typed before it ended');
    for (const secret of secrets) expect(kept).not.toContain(secret);
    await page.context().close();
  });

  test('a question stays open until its answer has come, and says what was refused', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await makeToken(hub.url, account);
    const page = await openAs(account);
    await page.goto('/tokens');
    const held = hold(page, 'DELETE', '**/api/tokens/*');
    await page.getByRole('button', { name: 'Revoke' }).first().click();
    const question = page.getByRole('dialog');
    await question.getByRole('button', { name: 'Revoke' }).click();
    const route = await held;
    await page.keyboard.press('Escape');
    await isDrawn(page);
    expect(await question.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    await route.fulfill(refusal('It stays for now.'));
    await question.getByText('It stays for now.').waitFor();
    const lost = hold(page, 'DELETE', '**/api/tokens/*');
    await question.getByRole('button', { name: 'Revoke' }).click();
    const unanswered = await lost;
    await unanswered.fetch();
    await unanswered.abort('connectionreset');
    await page.unroute('**/api/tokens/*');
    // Nothing tries it again by itself.
    await question.getByText(/No answer came.* nothing is done twice/).waitFor();
    await question.getByRole('button', { name: 'Revoke' }).click();
    await question.waitFor({ state: 'detached' });
    await page.getByText('No tokens yet').waitFor();
    await page.context().close();
  });

  test('what is refused after its form was closed, or its page left, is said all the same', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const page = await openAs(await signUp(running().hub.url));
    await page.goto('/tokens');
    const making = hold(page, 'POST', '**/api/tokens');
    await page.getByRole('button', { name: 'Make a token' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Closed too early');
    await form.getByRole('button', { name: 'Make a token' }).click();
    const made = await making;
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await made.fulfill(refusal('No.', [{ pointer: '#/name', detail: 'This name is taken.' }]));
    await said(page, /This name is taken/);
    await go(page, 'Webhooks');
    const settingUp = hold(page, 'POST', '**/api/webhooks/config');
    await page.getByLabel('Address').fill('https://hooks.example/toolhub');
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const setUp = await settingUp;
    await go(page, 'Tools');
    await setUp.abort('connectionreset');
    await said(page, /Look whether it was done/);
    await page.context().close();
  });

  test('a secret that is shown once is not lost by going back or loading anew without a question', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const page = await openAs(await signUp(running().hub.url));
    await page.goto('/');
    await heading(page, 'Overview');
    await page.goto('/tools');
    await heading(page, 'Tools');
    await go(page, 'Tokens');
    await page.getByRole('button', { name: 'Make a token' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Shown once');
    await page.getByRole('dialog').getByRole('button', { name: 'Make a token' }).click();
    const kept = page.getByRole('button', { name: 'I have kept it' });
    await kept.waitFor();
    const asked: string[] = [];
    page.on('dialog', (dialog: Dialog) => {
      asked.push(dialog.type());
      return dialog.dismiss();
    });
    await page.evaluate('history.back()');
    await expect.poll(() => asked).toEqual(['confirm']);
    await page.evaluate('setTimeout(() => location.reload(), 0)');
    await expect.poll(() => asked).toEqual(['confirm', 'beforeunload']);
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/tokens$/);
    await kept.click();
    await kept.waitFor({ state: 'detached' });
    await page.evaluate('history.back()');
    await heading(page, 'Tools');
    expect(asked).toHaveLength(2);
    await page.context().close();
  });

  const isAtLoginFrom = (page: Page, path: string) =>
    page.waitForURL(
      ({ pathname, searchParams }) => pathname === '/login' && searchParams.get('next') === path,
    );

  const logOutElsewhere = ({ cookie }: Account) =>
    call(`${running().hub.url}/api/auth/logout`, { cookie, body: {} });

  test('who is led to the log-in can go back to where they came from, and no page waits for a session that is none', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const account = await signUp(running().hub.url);
    const page = await openAs(account);
    await page.goto('/');
    await go(page, 'Tools');
    // What the page reads by itself waits for the click: else it may be led to the log-in before.
    const clicked = Promise.withResolvers<void>();
    await page.route('**/api/**', async (route) => {
      await clicked.promise;
      await route.continue();
    });
    await logOutElsewhere(account);
    await page.getByRole('navigation').getByRole('link', { name: 'Webhooks', exact: true }).click();
    clicked.resolve();
    await isAtLoginFrom(page, '/webhooks');
    await page.unroute('**/api/**');
    await page.evaluate('history.back()');
    await isAtLoginFrom(page, '/tools');
    await page.evaluate('history.back()');
    await page.getByRole('link', { name: 'Sign up' }).first().waitFor();
    // The front page knows already that nobody is logged in.
    await page.evaluate(`__TSR_ROUTER__.history.push('/billing')`);
    await isAtLoginFrom(page, '/billing');
    await page.context().close();
  });

  test('a login at a vendor that is begun after the session ended leads to the log-in, and back to its page', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const account = await signUp(running().hub.url);
    const page = await openAs(account);
    await page.goto('/connections/mastodon');
    const server = page.getByLabel('Your server');
    await server.fill('social.test');
    await logOutElsewhere(account);
    await page.getByRole('button', { name: 'Log in there' }).click();
    await isAtLoginFrom(page, '/connections/mastodon');
    await page.getByLabel('E-mail').fill(account.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await heading(page, 'Mastodon');
    await expect.poll(() => server.inputValue()).toBe('social.test');
    await page.context().close();
  });

  test('a log-in on the way to a guide leads on to the guide', { timeout: SLOW_MACHINE_MS }, async () => {
    const { hub, chromium } = running();
    const account = await signUp(hub.url);
    const { page } = await openPage(chromium, hub.url);
    page.setDefaultTimeout(STEP_MS);
    await page.goto('/login?next=/docs/billing');
    await page.getByLabel('E-mail').fill(account.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/docs/billing');
    await heading(page, 'Billing');
    await page.context().close();
  });
}
