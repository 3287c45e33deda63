import type { FastifyReply } from 'fastify';
import Type, { type TSchema, type TUnsafe } from 'typebox';

export const ID_LENGTH_MAX = 255;

/** Objects that refuse fields they do not know. */
export const closed = { additionalProperties: false } as const;

export const IdParams = Type.Object({ id: Type.String({ maxLength: ID_LENGTH_MAX }) });
export const Timestamp = Type.String({ format: 'date-time', description: 'UTC, with milliseconds.' });
export const ModeSchema = oneOfStrings(['test', 'live']);

/** For POSTs that do their work once per key, where one is sent. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: 'A string of your own; a repeat with the same one gets the first answer again.',
    }),
  ),
});

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export function oneOfStrings<const Values extends readonly string[]>(
  values: Values,
  description?: string,
): TUnsafe<Values[number]> {
  const literals = values.map((value) => Type.Literal(value));
  return Type.Union(literals, description === undefined ? {} : { description }) as never;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** For JSON that is made already: Fastify's serialiser would make it a second time. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(JSON_TYPE).send(text);
}
