import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createIdFactory, createSealer } from '@libs/seal';
import { expect, test } from 'vitest';
import { createWebhooks } from '../../../services/toolhub/src/webhooks/service.ts';
import { answer, startReceiver } from './receiver.ts';
import { createToolhubDatabase } from './service.ts';

const now = () => new Date();
const newId = createIdFactory({ now, randomBytes });
test('stress', { timeout: 120_000 }, async () => {
  const db = await createToolhubDatabase();
  const receiver = await startReceiver();
  const errors: unknown[] = [];
  const webhooks = createWebhooks({
    database: db.database, sealer: createSealer({ keys: [Buffer.alloc(32, 3)] }), egressAllow: [receiver.place],
    newId, randomBytes, now, onError: (e) => errors.push(e), rules: { drainMs: 0, retryDelaysMs: [1000, 4000] },
  });
  await webhooks.dispatcher.start();
  const stall = setInterval(() => { const until = performance.now() + Math.random() * 150; while (performance.now() < until); }, 170);
  const ids: string[] = [];
  const N = Number(process.env.STRESS_N ?? 40);
  await Promise.all(Array.from({ length: N }, async (_, nth) => {
    const customerId = newId('cus');
    await db.database.query(`insert into customers (id, email, name, password_hash, created_at) values ($1, $1, 'Ada', '', now())`, [customerId]);
    receiver.on(`/${nth}`, answer(500));
    await webhooks.configure({ customerId, webhookUrl: `${receiver.url}/${nth}`, events: null });
    await sleep(Math.random() * 8000);
    for (let k = 0; k < 3; k += 1) { const d = await webhooks.sendTest(customerId); ids.push(d.eventId); await sleep(Math.random() * 80); }
  }));
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(N * 9);
  clearInterval(stall);
  for (const id of ids) {
    const r = receiver.received.filter((x) => x.id === id);
    const t = r.map((x) => x.atMs);
    const g = [t[1]! - t[0]!, t[2]! - t[1]!];
    if (Math.abs(g[0]! - 1000) > 500 || Math.abs(g[1]! - 4000) > 500) console.log(r[0]?.path, id.slice(-6), g.map(Math.round), t.map((x) => Math.round(x)));
  }
  console.log('errors', errors);
  await webhooks.dispatcher.stop(); await receiver.stop(); await db.drop();
});
