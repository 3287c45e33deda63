import { cursorCodec } from '@libs/http';
import type { FastifyReply } from 'fastify';
import Type, { type TSchema, type TUnsafe } from 'typebox';
import { RAIL_IDS } from './rails/rail-ids.ts';

export const ID_LENGTH_MAX = 255;

/** Objects that refuse fields they do not know. */
export const closed = { additionalProperties: false } as const;

/** The path of one object; the example shows what its id looks like. */
export function idParams(example: string) {
  return Type.Object({ id: Type.String({ maxLength: ID_LENGTH_MAX, examples: [example] }) });
}

/** A place in a list that is ordered by ids of this prefix; the cursor of another list is refused instead of leading nowhere. */
export function idCursor(prefix: string) {
  return cursorCodec(Type.Tuple([Type.String({ pattern: `^${prefix}_[!-~]{1,60}$` })]));
}

export const Timestamp = Type.String({ format: 'date-time', description: 'UTC, with milliseconds.' });
export const ModeSchema = oneOfStrings(['test', 'live'], {
  title: 'Mode',
  description: 'Test and live data never meet; the key decides.',
});
export const RailSchema = oneOfStrings(RAIL_IDS, {
  title: 'Rail',
  description: 'A way to move money: `rtp` in seconds, `ach` in days, `book` at once between two balances.',
});

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

export function oneOfStrings<const Values extends readonly string[]>(
  values: Values,
  about: string | { title?: string; description?: string } = {},
): TUnsafe<Values[number]> {
  const literals = values.map((value) => Type.Literal(value));
  return Type.Union(literals, typeof about === 'string' ? { description: about } : about) as never;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** For JSON that is made already: Fastify's serialiser would make it a second time. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(JSON_TYPE).send(text);
}
