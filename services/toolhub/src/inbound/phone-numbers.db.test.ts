// Whose a WhatsApp number is, and what happens to its messages when that changes.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addCustomer } from '../invoices/test/rig.ts';
import { releasePhoneNumber } from './phone-numbers.ts';
import { delivery, message, startWhatsapp, type WhatsappRig } from './test/whatsapp-rig.ts';

let rig: WhatsappRig;

beforeEach(async () => {
  rig = await startWhatsapp();
});
afterEach(() => rig.stop());

describe('whose a number is', () => {
  test('one customer’s: a second claim is 409, a repeat by the owner is not', async () => {
    const [first, second] = [await addCustomer(rig.database), await addCustomer(rig.database)];
    await rig.claim(first, '106');
    await rig.claim(first, '106');
    await expect(rig.claim(second, '106')).rejects.toMatchObject({
      kind: 'conflict',
      code: 'phone_number_taken',
    });
  });

  test('of two that claim at once, one gets it', async () => {
    const customers = await Promise.all(Array.from({ length: 8 }, () => addCustomer(rig.database)));
    const outcomes = await Promise.allSettled(customers.map((customer) => rig.claim(customer, '106')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('released, its messages are gone, it can be claimed anew, and what comes meanwhile waits', async () => {
    const [first, second] = [await addCustomer(rig.database), await addCustomer(rig.database)];
    await rig.claim(first, '106');
    await rig.post(delivery('106', [message('wamid.1')]));
    await rig.settled();
    await rig.database.transaction((tx) => releasePhoneNumber(tx, first));
    expect(await rig.rows('select 1 from whatsapp_messages')).toEqual([]);
    await rig.post(delivery('106', [message('wamid.2')]));
    await rig.settled();
    expect(await rig.events()).toHaveLength(1);
    await rig.claim(second, '106');
    await rig.settled();
    expect((await rig.events()).map(({ customer_id: id }) => id)).toEqual([first, second]);
  });

  test('another number in the credential gives the first one up', async () => {
    const [first, second] = [await addCustomer(rig.database), await addCustomer(rig.database)];
    await rig.claim(first, '106');
    await rig.claim(first, '107');
    await rig.claim(second, '106');
    expect(await rig.rows('select phone_number_id, customer_id from phone_numbers order by 1')).toEqual([
      { phone_number_id: '106', customer_id: second },
      { phone_number_id: '107', customer_id: first },
    ]);
  });
});
