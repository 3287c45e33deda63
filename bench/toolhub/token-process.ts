// Two routes of one plain Fastify server: one does nothing, the other finds out whose token it was sent.
import { randomBytes } from 'node:crypto';
import { migrate, openChanges, openDatabase } from '@libs/db';
import { createOutage } from '@libs/runtime';
import { createIdFactory } from '@libs/seal';
import { fastify } from 'fastify';
import { bearerToken } from '../../services/toolhub/src/customers/access.ts';
import { createBearerResolver } from '../../services/toolhub/src/customers/bearer.ts';
import { createRevocations } from '../../services/toolhub/src/customers/revocations.ts';
import { createTokenService } from '../../services/toolhub/src/customers/tokens.ts';
import { migrationSource, SCHEMA } from '../../services/toolhub/src/schema.ts';

const [url = ''] = process.argv.slice(2);
await migrate(url, migrationSource);
const database = await openDatabase({ url, schema: SCHEMA });
const now = () => new Date();
const outage = createOutage({ began: console.error, ended: () => {} });
const changes = await openChanges({ database, onError: console.error, outage });
const revocations = createRevocations({ database, changes });
const newId = createIdFactory({ now, randomBytes });
const tokens = createTokenService({ database, revocations, newId, randomBytes, now });
await database.query(
  `insert into customers (id, email, name, password_hash, created_at) values ('cus_1', 'x', 'x', 'x', now())`,
);
const { token } = await tokens.create({ customerId: 'cus_1', standing: async () => {}, name: 'bench' });
const resolve = createBearerResolver({ revocations, sources: [tokens], internalTokens: [], now });

const app = fastify();
app.get('/bare', async () => ({ customer: 'cus_1' }));
app.get('/token', async (request, reply) => {
  const found = resolve(bearerToken(request.headers.authorization ?? '') ?? '');
  // As the product's own endpoint does.
  const session = found instanceof Promise ? await found : found;
  if (session?.kind !== 'customer') return reply.code(401).send({});
  return { customer: session.customerId };
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ address, token });
process.once('disconnect', () => process.exit(0));
