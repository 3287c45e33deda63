// What a developer does with an endpoint and its deliveries.
import { expect, test } from 'vitest';
import { answer } from '../../contract/payments/receiver.ts';
import { goTo, isWhole } from '../chromium.ts';
import type { Running } from './rig.ts';
import { button } from './steps.ts';

export function testWebhooks(running: () => Running): void {
  test('sees deliveries, one that fails, and tries it again', async () => {
    const { receiver, page } = running();
    receiver.respond = (response) => response.writeHead(500).end('the till is closed');
    await goTo(page, '/dashboard/webhooks');
    await page.getByRole('link', { name: /\/hooks$/ }).click();
    await button(page, 'Send a test').click();
    await page.getByRole('row', { name: /webhook_endpoint\.test.*500/ }).waitFor();
    // What was sent, and what came back, word for word.
    await button(page, 'Webhook endpoint test').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('the till is closed').waitFor();
    await dialog.getByText(/webhook-id: evt_/).waitFor();
    await dialog.getByText('"type": "webhook_endpoint.test"').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    receiver.respond = answer(204);
    await page
      .getByRole('row', { name: /webhook_endpoint\.test/ })
      // The service may have tried it again by itself meanwhile, and then it is sent once more.
      .getByRole('button', { name: /Try again now|Send again/ })
      .click();
    await page.getByRole('row', { name: /webhook_endpoint\.test.*Delivered/ }).waitFor();
  });

  test('[P-9.18] a test is sent once for each press, also where its answer was lost and where it is pressed twice at once', async () => {
    const { receiver, page } = running();
    receiver.respond = answer(204);
    const keys: (string | undefined)[] = [];
    const path = '**/v1/webhook_endpoints/*/test';
    await page.route(path, async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort('internetdisconnected');
    });
    const tests = page.getByRole('row', { name: /webhook_endpoint\.test/ });
    const before = await tests.count();
    const send = button(page, 'Send a test');
    await send.evaluate((pressed: { click: () => void }) => {
      pressed.click();
      pressed.click();
    });
    await page.getByText('No answer came').waitFor();
    await expect.poll(() => tests.count()).toBe(before + 1);
    for (const _again of ['of the same', 'anew']) {
      const answered = page.waitForResponse(path);
      await send.click();
      expect((await answered).status()).toBe(202);
    }
    await expect.poll(() => tests.count()).toBe(before + 2);
    const [first, second, third] = keys;
    expect(keys).toEqual([first, first, third]);
    expect(new Set([first, second, third])).toEqual(new Set([expect.any(String), third]));
    expect(third).not.toBe(first);
    await page.unroute(path);
  });

  test('what was given up while the endpoint was away is sent again at one stroke', async () => {
    const { receiver, page } = running();
    receiver.respond = answer(500);
    await button(page, 'Send a test').click();
    await page.getByRole('row', { name: /webhook_endpoint\.test.*500/ }).waitFor();
    receiver.respond = answer(410);
    await button(page, 'Send a test').click();
    await page.getByText(/Switched off, since it answered 410/).waitFor();
    const abandoned = page.getByRole('row', { name: /webhook_endpoint\.test.*Abandoned/ });
    await expect.poll(() => abandoned.count()).toBe(2);
    // As long as it is off, nothing can be sent.
    expect(await page.getByRole('button', { name: /^Try these/ }).count()).toBe(0);
    receiver.respond = answer(204);
    await button(page, 'Switch on').click();
    // One that is refused keeps the other from nothing, and says why.
    await page.route(
      '**/v1/webhook_deliveries/*/retry',
      (route) => route.fulfill({ status: 409, json: { detail: 'It went another way.', code: 'gone' } }),
      { times: 1 },
    );
    await button(page, 'Try these 2 again').click();
    await page.getByText('1 sent again, 1 not').waitFor();
    await page.getByText('It went another way.').waitFor();
    // Whatever is said beside it, and over it where there are many rows.
    await abandoned.getByRole('button', { name: 'Try again now' }).press('Enter');
    await expect.poll(() => abandoned.count()).toBe(0);
    await expect.poll(() => page.getByRole('row', { name: /Pending/ }).count()).toBe(0);
  });

  test('changes what an endpoint hears of; a wrong address is refused at its field', async () => {
    const { page } = running();
    await button(page, 'Edit').click();
    const dialog = page.getByRole('dialog');
    const address = dialog.getByLabel('URL');
    const before = await address.inputValue();
    await address.fill('http://192.168.0.1/hooks');
    await dialog.getByLabel('Description').fill('Till');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('input[type="url"][aria-invalid="true"]').waitFor();
    await address.fill(before);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const facts = page.locator('dl');
    await facts.getByText('Till', { exact: true }).waitFor();
    // What was not touched stays: it hears of all events.
    await facts.getByText('All events').waitFor();
    // It is asked for by its id, which one can copy; moments say their zone.
    await facts.getByRole('button', { name: 'Copy Endpoint' }).waitFor();
    expect(await facts.locator('time').first().textContent()).toMatch(/[AP]M \S+$/);
  });

  test('who goes back to an endpoint that was deleted finds nothing, instead of what it was', async () => {
    const { receiver, page } = running();
    const kept = new URL(page.url()).pathname;
    await goTo(page, '/dashboard/webhooks');
    await button(page, 'Add endpoint').first().click();
    await page.getByLabel('URL').fill(`${receiver.url}/mistyped`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click();
    await button(page, 'I have kept it').click();
    await page.getByRole('link', { name: /\/mistyped$/ }).click();
    await button(page, 'Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await page.goBack();
    await page.getByText('There is nothing at this address').waitFor();
    expect(await button(page, 'Send a test').count()).toBe(0);
    await goTo(page, kept);
  });

  test('a delivery names its endpoint in words, on the pages of the payment and of the event, also on a phone', async () => {
    const { receiver, page } = running();
    const { host } = new URL(receiver.url);
    const phone = await page.context().newPage();
    await phone.setViewportSize({ width: 360, height: 740 });
    await phone.goto('/dashboard/payments?status=completed');
    await phone.getByRole('link', { name: /^Payment pay_/ }).click();
    const delivery = phone.getByRole('link', { name: `Delivered ${host}`, exact: true });
    const told = phone.getByRole('row', { name: /payment\.completed/ }).filter({ has: delivery });
    await told.getByRole('link', { name: /payment\.completed/ }).click();
    await phone.getByRole('heading', { level: 1, name: 'Payment completed' }).waitFor();
    await delivery.getByText(host).waitFor();
    await isWhole(phone);
    // Whoever comes by the keyboard reads the whole address.
    await delivery.press('Shift+Tab');
    await phone.keyboard.press('Tab');
    await phone.getByRole('tooltip').getByText(`${receiver.url}/hooks`, { exact: true }).waitFor();
    await delivery.click();
    await phone.getByRole('heading', { level: 1, name: `${receiver.url}/hooks` }).waitFor();
    await phone.close();
  });
}
