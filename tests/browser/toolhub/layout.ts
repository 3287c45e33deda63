// What stands where: nothing is cut off or squeezed, on a desktop and on the narrowest phones.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Account, call, signUp } from '../../../services/toolhub/test/accounts.ts';
import { authorizeUrl, newPkce, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { isDrawn, isWhole, openPage, sidewaysPixels } from '../chromium.ts';
import { addDevices, OTHER_ADDRESS } from '../devices.ts';
import type { Serving } from './rig.ts';
import { addDeadLetters } from './seed.ts';
import { panel, STEP_MS } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;
const DESKTOP = { width: 1_280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** Words that stand closer to each other than this are read as one. */
const APART_PX_MIN = 7;
/** Two lines of a card are higher than this. */
const LINE_PX_MAX = 32;

/** How far the words of each choice are from those of the next. */
const GAPS = `(() => {
  const boxes = [...document.querySelectorAll('.mantine-SegmentedControl-innerLabel')].map((label) => {
    const text = document.createRange();
    text.selectNodeContents(label);
    return text.getBoundingClientRect();
  });
  return boxes.slice(1).map(({ left }, n) => left - boxes[n].right);
})()`;

export function testLayout(running: () => Serving): void {
  async function openAs(account: Account | undefined, viewport = DESKTOP): Promise<Page> {
    const { hub, chromium } = running();
    const { page } = await openPage(chromium, hub.url, { viewport });
    page.setDefaultTimeout(STEP_MS);
    const [name = '', value = ''] = (account?.cookie ?? '').split('=');
    if (account !== undefined) await page.context().addCookies([{ name, value, url: hub.url }]);
    return page;
  }

  test('the operator reads a dead letter to its end, on a desktop and on a phone', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    const { cookie } = account;
    const body = { webhook_url: `${hub.receiver.url}/hooks-of-toolhub/orders` };
    await call(`${hub.url}/api/webhooks/config`, { cookie, body });
    await call(`${hub.url}/api/webhooks/test`, { cookie, body: {} });
    const sent = () => call<{ data: { status: string }[] }>(`${hub.url}/api/webhooks/deliveries`, { cookie });
    await expect.poll(async () => (await sent()).body.data[0]?.status).toBe('delivered');
    await addDeadLetters(hub, account.id, 12);
    for (const viewport of [DESKTOP, PHONE]) {
      const page = await openAs(undefined, viewport);
      await page.goto('/admin/dead-letters');
      await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
      await page.getByRole('button', { name: 'Enter' }).click();
      await page.getByRole('button', { name: account.email, exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Show' }).first().waitFor();
      await isDrawn(page);
      expect(await dialog.locator('[data-sideways]').count(), `${viewport.width} px`).toBe(0);
      // What was sent is shown where one looks, however long the list above it is.
      await dialog.getByRole('button', { name: 'Show' }).first().press('Enter');
      await dialog.locator(':focus', { hasText: 'no room' }).waitFor();
      await page.context().close();
    }
  });

  test('on a phone the choices of a page stand apart from each other', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const page = await openAs(await signUp(running().hub.url), PHONE);
    await page.goto('/approvals');
    await page.getByText('Expired', { exact: true }).waitFor();
    const gaps = await page.evaluate<number[]>(GAPS);
    expect(gaps).toHaveLength(4);
    expect(Math.min(...gaps)).toBeGreaterThan(APART_PX_MIN);
    await page.context().close();
  });

  test('letters that are half again as large leave a phone all of the page', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    // As many letters in a line as 360 px have of such ones.
    const page = await openAs(await signUp(running().hub.url), { width: 240, height: 500 });
    for (const path of ['/connections', '/approvals', '/settings']) {
      await page.goto(path);
      await isWhole(page);
      await isDrawn(page);
      expect(await sidewaysPixels(page), path).toBe(0);
    }
    await page.context().close();
  });

  test('letters that are twice as large leave a phone its words whole, and each button below what it is about', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await call(`${hub.url}/api/credentials/slack?verify=false`, {
      ...{ method: 'PUT', cookie: account.cookie, body: { access_token: 'xoxb-1' } },
    });
    const { database } = hub.database;
    await database.query(`update credentials set status = 'expired' where customer_id = $1`, [account.id]);
    const page = await openAs(account, { width: 180, height: 370 });
    await page.goto('/webhooks');
    await isWhole(page);
    await isDrawn(page);
    expect(await sidewaysPixels(page)).toBe(0);
    await page.goto('/');
    const matter = page.getByRole('listitem').filter({ hasText: 'the token has expired' });
    const text = await matter.locator('p').boundingBox();
    const reconnect = await matter.getByRole('link').boundingBox();
    expect((text?.y ?? 0) + (text?.height ?? 0)).toBeLessThanOrEqual(reconnect?.y ?? 0);
    await page.context().close();
  });

  test('letters that are twice as large leave a phone both answers to a client, and where it leads', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const name = 'W'.repeat(40);
    const client = await registerClient(hub.url, { client_name: name });
    const page = await openAs(await signUp(hub.url), { width: 180, height: 370 });
    await page.goto(authorizeUrl(hub.url, client, newPkce()));
    expect(await sidewaysPixels(page)).toBe(0);
    const host = page.locator('dd').filter({ hasText: new URL(client.redirect_uri).hostname });
    expect((await host.boundingBox())?.width).toBeGreaterThan(100);
    await page.context().clearCookies();
    await page.goto(authorizeUrl(hub.url, client, newPkce()));
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await sidewaysPixels(page)).toBe(0);
    await page.context().close();
  });

  test('the form of a passkey is one line on a desktop, and the address of a session is one on a phone', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const { hub } = running();
    const account = await signUp(hub.url);
    await addDevices(hub.database.database, 'customer_id', account.id);
    const page = await openAs(account);
    await page.goto('/settings');
    const passkeys = panel(page, 'Passkeys');
    const bottomOf = async (role: 'textbox' | 'button', name: string) => {
      const box = await passkeys.getByRole(role, { name, exact: true }).boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    await passkeys.getByText('Phone of Ada').waitFor();
    // But for the edge of the field, which is no part of it.
    const below = (await bottomOf('button', 'Add a passkey')) - (await bottomOf('textbox', 'Your password'));
    expect(Math.abs(below)).toBeLessThanOrEqual(2);
    await page.setViewportSize(PHONE);
    const address = panel(page, 'Sessions').locator('td > *', { hasText: OTHER_ADDRESS }).first();
    expect((await address.boundingBox())?.height).toBeLessThan(LINE_PX_MAX);
    await page.context().close();
  });
}
