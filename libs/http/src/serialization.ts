import fastJson from '@fastify/fast-json-stringify-compiler';
import type { FastifySerializerCompiler } from 'fastify';
import type { TSchema } from 'typebox';

type Serialize = (value: unknown) => string;

const compile = fastJson.SerializerSelector()({}, {});
const made = new WeakMap<object, Serialize>();

/**
 * What writes an answer is made when the first one leaves: made at the start, those of all operations were a fifth of it,
 * and most processes never give most of the answers.
 */
export const serializerCompiler: FastifySerializerCompiler<TSchema> = (route) => {
  let serialize: Serialize | undefined;
  return (value) => {
    serialize ??= serializerOf(route);
    return serialize(value);
  };
};

type Route = Parameters<FastifySerializerCompiler<TSchema>>[0];

/** One for each schema of a process, however many operations and apps share it. */
function serializerOf({ schema, method, url, httpStatus = 'default' }: Route): Serialize {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const serialize = compile({ schema, method, url, httpStatus });
  made.set(schema, serialize);
  return serialize;
}
