import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { bodyValidator } from './validation.ts';

const validate = bodyValidator(Type.Object({}, { additionalProperties: false }));

/**
 * For a route that reads no body: what somebody meant to say by a field is refused by its name, instead of being passed
 * over. The body stays as it was sent: keys of idempotency were kept for it so.
 */
export function refuseFields(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const verdict = request.body === undefined ? true : validate(request.body);
  if (verdict !== true && 'error' in verdict) done(verdict.error);
  else done();
}
