// Nothing that somebody chose is lost by being quick.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Account, call, signUp } from '../../../services/toolhub/test/accounts.ts';
import { openPage } from '../chromium.ts';
import type { Running } from './rig.ts';
import { panel, STEP_MS } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;

interface Rules {
  send: boolean;
  delete: boolean;
  tools: Record<string, boolean>;
}

export function testNotLost(running: () => Running): void {
  async function openAs({ cookie }: Account): Promise<Page> {
    const { hub, chromium } = running();
    const { page } = await openPage(chromium, hub.url);
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: hub.url }]);
    page.setDefaultTimeout(STEP_MS);
    return page;
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
}
