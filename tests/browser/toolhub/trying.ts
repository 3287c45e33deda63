// A tool that is tried on its page: what was typed is what is sent, once.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../../../services/toolhub/test/accounts.ts';
import { openPage } from '../chromium.ts';
import type { Running } from './rig.ts';
import { STEP_MS } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;

interface Sent {
  arguments: { idempotency_key: string; scheduled_at?: string };
}

export function testTrying(running: () => Running): void {
  async function openTool(name: string): Promise<Page> {
    const { hub, chromium } = running();
    const { cookie } = await signUp(hub.url);
    const { page } = await openPage(chromium, hub.url);
    const [key = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name: key, value, url: hub.url }]);
    page.setDefaultTimeout(STEP_MS);
    await page.goto(`/tools/${name}`);
    return page;
  }

  /** Every call is answered so, and what it sent is kept. */
  async function answerCalls(page: Page, answer: object): Promise<Sent[]> {
    const sent: Sent[] = [];
    await page.route('**/call', (route) => {
      sent.push(route.request().postDataJSON() as Sent);
      return route.fulfill({ json: answer });
    });
    return sent;
  }

  const run = (page: Page) => page.getByRole('button', { name: 'Run' }).click();

  test('a moment of which only the day is filled in is asked for, and nothing is sent: without it the post would go out at once', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const page = await openTool('facebook_create_post');
    const sent = await answerCalls(page, { tool: 'facebook_create_post', is_error: false, content: {} });
    await page.getByLabel('Page ID').fill('4242');
    await page.getByLabel('Message').fill('For later');
    const at = page.getByLabel('Scheduled at');
    await at.pressSequentially('11062031');
    await run(page);
    await page.getByText('A day and a time').waitFor();
    await at.and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    expect(sent).toEqual([]);
    await at.fill('2031-11-06T12:05');
    await run(page);
    await page.getByText('Done.').waitFor();
    expect(await page.getByText('A day and a time').count()).toBe(0);
    expect(sent.map((each) => typeof each.arguments.scheduled_at)).toEqual(['string']);
    await page.context().close();
  });
}
