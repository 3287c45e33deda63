import { fastify } from 'fastify';
import { CreatePayment } from '../../services/payments/src/payments/schemas.ts';

const app = fastify();
app.post('/v1/payments', { schema: { body: CreatePayment } }, (request, reply) =>
  reply.code(202).send(request.body),
);
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
console.log('ready');
process.once('SIGTERM', () => process.exit(0));
