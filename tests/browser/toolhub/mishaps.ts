// What goes wrong while somebody works: it is said at the place, with what to do, and nothing is sent twice.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { authorizeUrl, newPkce, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { openPage } from '../chromium.ts';
import { type Serving, VENDOR_TOKEN } from './rig.ts';
import { heading, panel, STEP_MS, said } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;

/** So long a client takes to answer at its redirect address: meanwhile the page that was answered is still there. */
const CLIENT_ANSWERS_MS = 500;

/** A client on this machine, as its redirect address answers. */
async function startClientApp(): Promise<{ redirect: string } & AsyncDisposable> {
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html');
    const text = url.includes('code=') ? 'Connected: the client has its code.' : 'Not connected.';
    setTimeout(() => response.end(text), CLIENT_ANSWERS_MS);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    redirect: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const isFocused = (page: Page, name: string) =>
  page.getByRole('button', { name }).evaluate((button) => button.matches(':focus'));

/** Tests of the file that has the service and the browser running. */
export function testMishaps(running: () => Serving): void {
  /** One for all, one person after the other: a new one would read the whole program again. */
  let context: BrowserContext | undefined;

  async function openAs(account: Account | undefined): Promise<Page> {
    const { hub, chromium } = running();
    context ??= (await openPage(chromium, hub.url)).page.context();
    await context.clearCookies();
    const [name = '', value = ''] = (account?.cookie ?? '').split('=');
    if (account !== undefined) await context.addCookies([{ name, value, url: hub.url }]);
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    return page;
  }

  /** Sends the form that has this field. */
  const submit = (page: Page, field: string) =>
    page
      .locator('form', { has: page.getByLabel(field) })
      .first()
      .getByRole('button')
      .click();

  async function logIn(page: Page, account: Account): Promise<void> {
    await heading(page, 'Log in');
    await page.getByLabel('E-mail').fill(account.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  test('[TH-11.37] an answer that is lost: the same call again sends nothing twice', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await call(`${hub.url}/api/credentials/mastodon`, {
      ...{ method: 'PUT', cookie: account.cookie },
      body: { instance_url: 'https://social.test', access_token: VENDOR_TOKEN },
    });
    const page = await openAs(account);
    await page.goto('/tools/mastodon_create_status');
    await page.getByLabel('text', { exact: false }).first().fill('Once and no more');
    const before = hub.vendor.statuses.size;
    let lost = 0;
    await page.route('**/call', async (route) => {
      if (lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Run' }).click();
    await said(page, /No answer came/);
    expect(hub.vendor.statuses.size).toBe(before + 1);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Done.').waitFor();
    expect(hub.vendor.statuses.size).toBe(before + 1);
    await page.close();
  });

  test('[TH-11.37] a token whose secret was lost with its answer: the form sends to the list, where it stands already', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const page = await openAs(await signUp(hub.url));
    await page.goto('/tokens');
    await page.getByRole('button', { name: 'Make a token' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Lost on its way');
    await page.route('**/api/tokens', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort('connectionreset');
    });
    await form.getByRole('button', { name: 'Make a token' }).click();
    await said(page, /may have been made.*revoke it there/);
    await page.getByRole('cell', { name: 'Lost on its way' }).waitFor();
    expect(await page.getByText('nothing is done twice').count()).toBe(0);
    await page.close();
  });

  test('[TH-11.37] two windows: what one changed, the other does not undo, and a session that ended leads back', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const page = await openAs(account);
    await page.goto('/approvals');
    const sends = page.getByRole('switch', { name: 'Everything that deletes or overwrites' });
    await sends.waitFor();
    // Behind the back of this window, as another would.
    await call(`${hub.url}/api/approvals/rules`, {
      ...{ method: 'PUT', cookie, body: { send: true, delete: false, tools: {} } },
    });
    await sends.press('Space');
    await page.getByText('Saved.').waitFor();
    const rules = await call(`${hub.url}/api/approvals/rules`, { cookie });
    expect(rules.body).toMatchObject({ send: true, delete: true });
    await page.goto('/billing');
    await page.getByLabel('Cap a month').fill('80');
    await call(`${hub.url}/api/plan`, { method: 'PUT', cookie, body: { plan: 'starter' } });
    await submit(page, 'Cap a month');
    await page.getByText('Changed.').waitFor();
    const plan = await call(`${hub.url}/api/plan`, { cookie });
    expect(plan.body).toMatchObject({ plan: 'starter', spend_cap_cents: 8_000 });
    await call(`${hub.url}/api/auth/logout`, { cookie, body: {} });
    await page.getByLabel('Company').fill('Analytical Engines');
    await submit(page, 'Company');
    await logIn(page, account);
    await heading(page, 'Billing');
    // What was typed is back, too.
    await expect.poll(() => page.getByLabel('Company').inputValue()).toBe('Analytical Engines');
    await page.close();
  });

  test('[TH-11.37] the service is restarted in the middle: said, waited for, and gone on with', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const page = await openAs(account);
    await page.goto('/settings');
    await page.getByLabel('Name').first().fill('Ada after the restart');
    await hub.stopServing();
    await submit(page, 'Name');
    await said(page, /No answer came/);
    await page.getByText('The connection is lost. Trying again').first().waitFor();
    await hub.serveAgain();
    await page.getByText('The connection is lost. Trying again').first().waitFor({ state: 'detached' });
    // What was typed is still there.
    await submit(page, 'Name');
    await page.getByText('Saved.').first().waitFor();
    const me = await call<{ customer: { name: string } }>(`${hub.url}/api/me`, { cookie: account.cookie });
    expect(me.body.customer.name).toBe('Ada after the restart');
    await page.close();
  });

  test('[TH-11.37] an account that is suspended in the middle is told so, and goes on when it is resumed', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const page = await openAs(account);
    await page.goto('/settings');
    await page.getByLabel('Name').first().fill('Ada in between');
    const admin = (verb: string) =>
      call(`${hub.url}/api/admin/customers/${account.id}/${verb}`, { token: ADMIN_TOKEN, body: {} });
    await admin('suspend');
    await submit(page, 'Name');
    await said(page, /suspended/);
    await page.goto('/');
    await said(page, /ask the operator/);
    await admin('resume');
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Overview');
    await page.close();
  });

  test('[TH-11.10] a call that is shown cut says so, and is allowed where all of it is shown', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const { token } = await makeToken(hub.url, account);
    const put = (path: string, body: object) => call(`${hub.url}${path}`, { method: 'PUT', cookie, body });
    await put('/api/credentials/telegram?verify=false', { bot_token: '4242:made-up' });
    await put('/api/approvals/rules', { send: true, delete: true, tools: {} });
    const text = `${'All is well. '.repeat(200)}Send all you have.`;
    const { body } = await callTool(hub.url, token, 'telegram_send_message', { chat_id: '1', text });
    expect(body.result?.structuredContent?.error).toMatchObject({ code: 'approval_required' });
    const page = await openAs(account);
    await page.goto('/approvals');
    await page.getByText('This is sent, here cut short:').waitFor();
    expect(await page.getByRole('button', { name: /^Allow/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Show all of it, to allow it' }).click();
    await page.getByText('This is sent, and nothing else:').waitFor();
    await page.getByText(/Send all you have\.$/).waitFor();
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Allowed: the assistant can run it now.').waitFor();
    await page.close();
  });

  test('who clicks twice on “Allow” comes to the client, as with one click', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    await using app = await startClientApp();
    const client = await registerClient(hub.url, { redirect_uris: [app.redirect] });
    const page = await openAs(await signUp(hub.url));
    // People need some time for the second click, in which the request is answered, and the client asked, or not.
    for (const delay of [0, 100, 200]) {
      await page.goto(authorizeUrl(hub.url, client, newPkce()));
      await page.getByRole('button', { name: 'Allow' }).click({ clickCount: 2, delay });
      await page.getByText('Connected: the client has its code.').waitFor();
    }
    // Who comes by the keyboard and then takes the mouse is heard, too.
    await page.goto(authorizeUrl(hub.url, client, newPkce()));
    for (let tabs = 0; tabs < 8 && !(await isFocused(page, 'Allow')); tabs += 1)
      await page.keyboard.press('Tab');
    expect(await isFocused(page, 'Allow')).toBe(true);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Connected: the client has its code.').waitFor();
    await page.close();
  });

  test('[TH-11.37] a suspended account is told so at the log-in, and who guesses at it is not', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const path = `/api/admin/customers/${account.id}/suspend`;
    expect((await call(`${hub.url}${path}`, { token: ADMIN_TOKEN, body: {} })).status).toBe(200);
    const visitor = await openAs(undefined);
    await visitor.goto('/login');
    await logIn(visitor, account);
    await said(visitor, /suspended; ask the operator, Toolhub Ltd\./);
    await visitor.getByRole('textbox', { name: 'Password' }).fill('not the password');
    await visitor.getByRole('button', { name: 'Log in' }).click();
    await said(visitor, /address or the password is wrong/);
    expect(await visitor.getByText(/suspended/).count()).toBe(0);
    await visitor.close();
  });

  test('[TH-11.37] a platform that does not answer is down on every page that speaks of it', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const stored = await call(`${hub.url}/api/credentials/bluesky?verify=false`, {
      ...{ method: 'PUT', cookie: account.cookie },
      body: { service: 'https://bsky.social', identifier: 'ada.bsky.social', app_password: 'a-b-c-d' },
    });
    expect(stored.status).toBe(200);
    const page = await openAs(account);
    for (const path of ['/connections', '/tools', '/connections/bluesky']) {
      await page.goto(path);
      const place = path === '/connections/bluesky' ? panel(page, 'Connection') : panel(page, 'Bluesky');
      await place.getByText('Down', { exact: true }).waitFor();
      expect(await place.getByText('Connected', { exact: true }).count()).toBe(0);
    }
    await page.close();
  });

  test('[TH-11.37] a server that refuses the login is said so at its field, with its name still there', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const page = await openAs(await signUp(hub.url));
    await page.goto('/connections/mastodon');
    const server = page.getByLabel('Your server');
    const logIn = page.getByRole('button', { name: 'Log in there' });
    const fails = (path: string, status: number, error: string) =>
      hub.vendor.failNext(
        { kind: 'reply', reply: { status, json: { error } } },
        (request) => request.path === path,
      );
    await server.fill('away.social.test');
    fails('/api/v1/apps', 503, 'away');
    await logIn.click();
    await page.waitForURL('**/*error=platform_unreachable');
    await page.getByText('This server did not answer as it should.').waitFor();
    expect(await server.inputValue()).toBe('away.social.test');
    expect(await server.getAttribute('aria-invalid')).toBe('true');
    await server.and(page.locator(':focus')).waitFor();
    await page.reload();
    await expect.poll(() => server.inputValue()).toBe('away.social.test');
    // Also when it is refused on the way back, which is no fault of the name.
    fails('/oauth/token', 400, 'invalid_grant');
    await server.press('Enter');
    await said(page, /did not accept the login/);
    expect(await server.inputValue()).toBe('away.social.test');
    expect(await server.getAttribute('aria-invalid')).not.toBe('true');
    await logIn.click();
    await page.getByText('Connected. Your assistants can use it now.').waitFor();
    await page.close();
  });

  test('[TH-11.37] wrong passwords, refused addresses, dead links and refused log-ins say what to do', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const visitor = await openAs(undefined);
    await visitor.goto('/login');
    await visitor.getByLabel('E-mail').fill(account.email);
    await visitor.getByRole('textbox', { name: 'Password' }).fill('not the password');
    await visitor.getByRole('button', { name: 'Log in' }).click();
    await said(visitor, /address or the password is wrong/);
    await visitor.goto('/verify?token=none');
    await said(visitor, /ask for a new one/);
    await visitor.getByText('a button there sends a new link').waitFor();
    await visitor.goto('/reset?token=none');
    await visitor.getByRole('textbox', { name: 'Password' }).fill('a long enough password');
    await visitor.getByRole('button', { name: 'Set the password' }).click();
    await said(visitor, /ask for a new one/);
    await visitor.getByRole('link', { name: /Get another one/ }).click();
    await heading(visitor, 'Forgot your password?');
    await visitor.close();
    const page = await openAs(account);
    await page.goto('/webhooks');
    await page.getByLabel('Address').fill('http://169.254.169.254/latest');
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    await expect.poll(() => page.getByLabel('Address').getAttribute('aria-invalid')).toBe('true');
    await page.goto('/connections/mastodon?error=connect_denied');
    await said(page, /You did not allow the access/);
    await page.goto('/settings');
    await page
      .locator('form', { has: page.getByRole('button', { name: 'Delete my account' }) })
      .getByLabel('Password', { exact: true })
      .fill('not the password');
    await page.getByRole('button', { name: 'Delete my account' }).click();
    await page.getByText('The password is wrong.').waitFor();
    expect((await call(`${hub.url}/api/me`, { cookie: account.cookie })).status).toBe(200);
    await page.close();
  });
}
