// A tool that is tried on its page: what was typed is what is sent, once.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { CALL_LONGEST_MS } from '../../../services/toolhub/src/calls/call-times.ts';
import { STILL_RUNNING } from '../../../services/toolhub/src/calls/still-running.ts';
import { signUp } from '../../../services/toolhub/test/accounts.ts';
import { openPage } from '../chromium.ts';
import type { Serving } from './rig.ts';
import { STEP_MS, said } from './steps.ts';

const SLOW_MACHINE_MS = 60_000;

interface Sent {
  arguments: { idempotency_key: string; scheduled_at?: string };
}

export function testTrying(running: () => Serving): void {
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

  test('a call is waited for as long as the server may take, and one that still runs is not made a second time', {
    timeout: SLOW_MACHINE_MS,
  }, async () => {
    const page = await openTool('facebook_create_post');
    await page.evaluate(`
      window.waits = [];
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => (window.waits.push(ms), timeout(ms));
    `);
    const error = { code: 'platform_unavailable', message: STILL_RUNNING };
    const sent = await answerCalls(page, {
      ...{ tool: 'facebook_create_post', is_error: true },
      content: { error },
    });
    await page.getByLabel('Page ID').fill('4242');
    await page.getByLabel('Message').fill('Once');
    for (const times of [1, 2]) {
      await run(page);
      await expect.poll(() => sent.length).toBe(times);
      await said(page, /still runs/);
      await page.getByRole('button', { name: 'Run' }).and(page.locator(':enabled')).waitFor();
    }
    expect(sent[1]).toEqual(sent[0]);
    expect(Math.max(...(await page.evaluate<number[]>('window.waits')))).toBeGreaterThan(CALL_LONGEST_MS);
    await page.context().close();
  });
}
