// Proving an address, and what may be mailed before.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, newEmail, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { type AccountRig, createAccountRig } from './account-rig.ts';

let rig: AccountRig;
let url: string;

beforeAll(async () => {
  rig = await createAccountRig();
  url = rig.url;
});
afterAll(() => rig.close());

describe('verification', () => {
  test('[TH-3.9] the mail of a sign-up verifies the address, once', async () => {
    const ada = await signUp(url);
    expect((await rig.me(ada)).body.customer.email_verified).toBe(false);
    const token = await rig.linkIn(ada.email, 'verify');
    expect((await rig.post('/api/auth/verify', { token: `${token}x` })).status).toBe(422);
    expect((await rig.post('/api/auth/verify', { token })).body).toMatchObject({
      customer: { id: ada.id, email_verified: true },
    });
    expect((await rig.me(ada)).body.customer.email_verified).toBe(true);
    expect((await rig.post('/api/auth/verify', { token })).body).toMatchObject({ code: 'link_not_valid' });
  });

  test('[TH-3.9] while the account is being closed is no deadlock, and comes too late', async () => {
    const ada = await signUp(url);
    const token = await rig.linkIn(ada.email, 'verify');
    const answer = await rig.during(
      (tx) => tx.query('select 1 from customers where id = $1 for no key update', [ada.id]),
      () => rig.post('/api/auth/verify', { token }),
      (tx) => tx.query('delete from customers where id = $1', [ada.id]),
    );
    expect([answer.status, answer.body.code]).toEqual([422, 'link_not_valid']);
  });

  test('[TH-3.10] mail holds no text that somebody chose', async () => {
    const email = newEmail();
    const name = 'Buy cheap pills at evil.example';
    await call(`${url}/api/auth/signup`, { body: { email, password: PASSWORD, name } });
    await rig.linkIn(email, 'verify');
    for (const mail of await rig.mailsTo(email)) expect(JSON.stringify(mail)).not.toMatch(/pills|evil/);
  });

  test('[TH-3.10] asking again and again fills no mailbox', async () => {
    const ada = await signUp(url);
    await rig.linkIn(ada.email, 'verify');
    for (let n = 0; n < 12; n += 1)
      expect((await rig.post('/api/auth/verify/resend', {}, ada)).status).toBe(202);
    await rig.linkIn(ada.email, 'verify', 5);
    const jobs = async () =>
      (await rig.database.query(`select 1 from jobs where name = 'mail.account'`)).rows.length;
    await expect.poll(jobs).toBe(0);
    expect((await rig.mailsTo(ada.email)).length).toBe(5);
  });

  test('[TH-7.16] an invoice waits as open until the address is verified, and then leaves', async () => {
    const ada = await signUp(url);
    const token = await rig.linkIn(ada.email, 'verify');
    await rig.database.query(
      `update customers set plan = 'starter', created_at = '2026-01-01' where id = $1`,
      [ada.id],
    );
    const admin = (path: string, body: unknown) =>
      call<Record<string, unknown>>(`${url}${path}`, { body, token: ADMIN_TOKEN });
    expect((await admin('/api/admin/invoices/run', { period: '2026-02' })).body).toMatchObject({ failed: 0 });
    const invoice = async () =>
      (await call<{ data: { status: string }[] }>(`${url}/api/invoices`, { cookie: ada.cookie })).body
        .data[0];
    expect(await invoice()).toMatchObject({ status: 'open' });
    expect((await rig.mailsTo(ada.email)).filter(({ subject }) => subject.startsWith('Invoice'))).toEqual([]);
    await rig.post('/api/auth/verify', { token });
    await admin('/api/admin/invoices/run', { period: '2026-02' });
    expect(await invoice()).toMatchObject({ status: 'sent' });
    expect(
      (await rig.mailsTo(ada.email)).filter(({ subject }) => subject.startsWith('Invoice')),
    ).toHaveLength(1);
  });
});

describe('an address with a domain beyond ASCII', () => {
  const spellings = ['Ada@bücher.example', 'ada@xn--bcher-kva.EXAMPLE'];
  const enter = (way: string, body: object) =>
    call<{ customer: { id: string } }>(`${url}/api/auth/${way}`, { body });
  const signUpAs = (email: string) => enter('signup', { email, password: PASSWORD, name: 'Ada' });
  const logInAs = async (email: string) =>
    (await enter('login', { email, password: PASSWORD })).body.customer.id;
  const found = async (email: string) => {
    const address = `${url}/api/admin/customers?email=${encodeURIComponent(email)}`;
    const { body } = await call<{ data: { id: string }[] }>(address, { token: ADMIN_TOKEN });
    return body.data.map(({ id }) => id);
  };

  test('is one account in both spellings, whoever signs up first', async () => {
    const answers = await Promise.all([...spellings, ...spellings].map(signUpAs));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const id = answers.find(({ status }) => status === 201)?.body.customer.id;
    expect(await Promise.all(spellings.map(logInAs))).toEqual([id, id]);
    expect(await Promise.all(spellings.map(found))).toEqual([[id], [id]]);
  });

  test('leads to the account from before in either spelling, and to each of two by its own', async () => {
    const write = (id: string, key: string) =>
      rig.database.transaction(async (tx) => {
        await tx.query('delete from customer_emails where customer_id = $1 or email_key = $2', [id, key]);
        await tx.query('insert into customer_emails (customer_id, email_key) values ($1, $2)', [id, key]);
        await tx.query('update customers set email = $2 where id = $1', [id, key]);
      });
    await rig.database.query("delete from customer_emails where email_key ~ 'cher'");
    const [ada, other] = [await signUp(url), await signUp(url)];
    for (const key of ['ada@bücher.example', 'ada@xn--bcher-kva.example']) {
      await write(ada.id, key);
      expect(await Promise.all(spellings.map(logInAs))).toEqual([ada.id, ada.id]);
      for (const spelling of spellings) expect((await signUpAs(spelling)).status).toBe(409);
    }
    await write(other.id, 'ada@bücher.example');
    expect(await Promise.all(spellings.map(logInAs))).toEqual([other.id, ada.id]);
  });
});
