// However much there is of it, all of it can be reached.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../../contract/payments/person.ts';
import { isDrawn, isWhole, oneAtATime, sidewaysPixels } from '../chromium.ts';
import type { Mishaps } from './going-on.ts';

type Running = Pick<Mishaps, 'dashboard' | 'owner' | 'openAs'>;

const panel = (page: Page, title: string): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const next = (shown: Locator) => shown.getByRole('button', { name: 'Next page' });

const KEY_LENGTH_MAX = 255;
const DESKTOP = { width: 1_280, height: 800 };
const LONG_WORD = 'Donaudampfschifffahrtsgesellschaftskapitaensmuetze'.repeat(2).slice(0, 90);

/** Where the first letter of a name and its last digit are drawn. */
const WHERE_DRAWN = `(() => {
  const name = [...document.querySelectorAll('td span[title]')].find((each) => each.textContent.includes('علي'));
  const text = name.firstChild;
  const leftOf = (at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  };
  return { name: leftOf(text.data.indexOf('ع')), digit: leftOf(text.data.length - 1) };
})()`;

export function testReach(running: () => Running): void {
  /** The id of a bank account of this holder. */
  async function addAccount(holder_name: string, account_number: string): Promise<string> {
    const { status, body } = await running().owner.call('POST', '/v1/payment_methods', {
      type: 'bank_account',
      bank_account: {
        ...{ routing_number: '021000021', account_number, account_type: 'checking' },
        ...{ holder_name, holder_type: 'business' },
      },
    });
    expect(status).toBe(201);
    return body.id;
  }

  /** The id of a payment that has arrived. */
  async function pay(path: string, body: object): Promise<string> {
    const { owner } = running();
    const headers = { 'idempotency-key': `within reach ${JSON.stringify(body)}`.slice(0, KEY_LENGTH_MAX) };
    const made = await owner.call('POST', path, body, { headers });
    expect(made.status).toBe(202);
    const status = async () => (await owner.call('GET', `/v1/payments/${made.body.id}`)).body.status;
    await expect.poll(status).toBe('completed');
    return made.body.id;
  }

  test('keys of a later page are shown, can be revoked there, and stand with their names in the log', async () => {
    const { dashboard, owner, openAs } = running();
    for (let number = 1; number <= 21; number += 1) {
      const made = await owner.call('POST', '/v1/keys', { name: `Server ${number}` });
      expect(made.status).toBe(201);
      // At once: of each second the first 20 calls are logged.
      if (number === 1) await dashboard.call('GET', '/v1/ledger/accounts', { key: made.body.key });
    }
    const page = await openAs(owner.cookie);
    await page.goto('/dashboard/keys');
    await page.getByRole('row', { name: /Server 21 / }).waitFor();
    await page.getByRole('button', { name: /Next/ }).click();
    await page.getByRole('row', { name: /Server 1 / }).waitFor();
    await page.goto('/dashboard/logs?path=/v1/ledger/accounts');
    await page.getByRole('row', { name: /Server 1 / }).waitFor();
    await page.context().close();
  });

  test('payment methods beyond the newest have their names, one from right to left before its digits', async () => {
    const { owner, openAs } = running();
    const names = { 'Old Company': '100200301', 'علي حسن': '100200302' };
    for (const [holder, number] of Object.entries(names)) {
      const id = await addAccount(holder, number);
      await pay('/v1/payments', {
        ...{ amount: 1_717, currency: 'USD', description: `of ${number}` },
        ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: id } },
      });
    }
    await addAccount('The Newest', '100200303');
    const page = await openAs(owner.cookie);
    await oneAtATime(page, '/v1/payment_methods');
    await page.goto('/dashboard/payments');
    const row = (number: string) => page.getByRole('row', { name: `of ${number}` });
    await row(names['Old Company']).getByText('Old Company').waitFor();
    await row(names['علي حسن']).getByText('علي').waitFor();
    const places = await page.evaluate<{ name: number; digit: number }>(WHERE_DRAWN);
    expect(places.digit).toBeGreaterThan(places.name);
    await page.context().close();
  });

  test('a name that is one long word pushes nothing out of sight, and no table makes its page wider', async () => {
    const { owner, openAs } = running();
    const id = await addAccount(LONG_WORD, '100200304');
    await pay('/v1/payments', {
      ...{ amount: 1_818, currency: 'USD', description: LONG_WORD },
      ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: id } },
    });
    await owner.call('POST', '/v1/keys', { name: LONG_WORD.slice(0, 60) });
    const page = await openAs(owner.cookie);
    await page.setViewportSize(DESKTOP);
    for (const path of [
      `/dashboard/payments?payment_method=${id}`,
      '/dashboard/payment-methods',
      '/dashboard/keys',
    ]) {
      await page.goto(path);
      await page.getByText(LONG_WORD.slice(0, 60)).first().waitFor();
      await isWhole(page);
      await isDrawn(page);
      expect(await page.locator('[data-sideways]').count(), path).toBe(0);
    }
    await page.evaluate(`{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('.ui-table { min-width: 4000px }');
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    }`);
    await page.locator('[data-sideways]').waitFor();
    expect(await sidewaysPixels(page)).toBe(0);
    await page.context().close();
  });

  test('members of a later page are shown, and can be demoted there: whoever came first stands last', async () => {
    const { dashboard, openAs } = running();
    const founder = await signUp(dashboard, { name: 'The Founder', organisation: 'Reach' });
    const second = await signUp(dashboard, { name: 'The Second', organisation: 'Another' });
    await dashboard.database.query(
      `insert into memberships (organisation_id, user_id, role, created_at) values ($1, $2, 'owner', now())`,
      [founder.organisationId, second.userId],
    );
    const organisation_id = founder.organisationId;
    expect((await second.call('POST', '/v1/session/organisation', { organisation_id })).status).toBe(200);
    const page = await openAs(second.cookie);
    await oneAtATime(page, '/v1/members');
    await page.goto('/dashboard/team');
    const members = panel(page, 'Members');
    await members.getByRole('row', { name: /The Second/ }).waitFor();
    await next(members).click();
    await members.getByRole('row', { name: /The Founder/ }).waitFor();
    await members.getByRole('combobox', { name: `Role: ${founder.email}` }).click();
    await page.getByRole('option', { name: 'Viewer' }).click();
    await page.getByText('The role is changed.').waitFor();
    const { body } = await founder.call('GET', '/v1/session');
    expect(body.organisation.role).toBe('viewer');
    await page.context().close();
  });

  test('refunds, entries, messages and events of a payment are shown however many there are', async () => {
    const { owner, openAs } = running();
    const id = await pay('/v1/payments', {
      ...{ amount: 1_616, currency: 'USD', rail: 'rtp' },
      ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' } },
    });
    for (const description of ['The first refund', 'The second refund'])
      await pay(`/v1/payments/${id}/refunds`, { amount: 100, description });
    const page = await openAs(owner.cookie);
    const lists = {
      Refunds: `/v1/payments?refund_of=${id}`,
      'Messages on the rail': `/v1/payments/${id}/messages`,
      'Ledger entries': `/v1/ledger/entries?payment_id=${id}`,
      'Events and deliveries': `/v1/events?object_id=${id}`,
    };
    const paths = Object.values(lists).map((path) => path.split('?')[0] ?? '');
    const seen = new Set<string>();
    const note = ({ data }: { data: { id: string }[] }) => {
      for (const { id: one } of data) seen.add(one);
    };
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      // The browser may have dropped the body of what the page has asked for anew; a row that was never seen is missed below.
      if (paths.includes(pathname) && response.request().method() === 'GET')
        response.json().then(note, () => undefined);
    });
    for (const path of paths) await oneAtATime(page, path);
    await page.goto(`/dashboard/payments/${id}`);
    for (const [title, path] of Object.entries(lists)) {
      const ids: string[] = (await owner.call('GET', path)).body.data.map((row: { id: string }) => row.id);
      expect(ids.length, title).toBeGreaterThan(1);
      for (const [turn, one] of ids.entries()) {
        if (turn > 0) await next(panel(page, title)).click();
        await expect.poll(() => seen.has(one), { message: `${title} ${turn}` }).toBe(true);
      }
      await expect.poll(() => next(panel(page, title)).isDisabled()).toBe(true);
    }
    await panel(page, 'Refunds')
      .getByRole('row', { name: /The first refund/ })
      .waitFor();
    await page.context().close();
  });
}
