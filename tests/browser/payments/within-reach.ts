// However much there is of it, all of it can be reached.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../../contract/payments/person.ts';
import { oneAtATime } from '../chromium.ts';
import type { Mishaps } from './going-on.ts';

type Running = Pick<Mishaps, 'dashboard' | 'owner' | 'openAs'>;

const panel = (page: Page, title: string): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
const next = (shown: Locator) => shown.getByRole('button', { name: 'Next page' });

export function testReach(running: () => Running): void {
  /** The id of a payment that has arrived. */
  async function pay(path: string, body: object): Promise<string> {
    const { owner } = running();
    const headers = { 'idempotency-key': `within reach ${JSON.stringify(body)}` };
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
    page.on('response', async (response) => {
      const { pathname } = new URL(response.url());
      if (paths.includes(pathname) && response.request().method() === 'GET')
        for (const row of (await response.json()).data) seen.add(row.id);
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
