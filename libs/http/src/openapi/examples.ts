import type { Nouns } from './nouns.ts';
import type { DocumentSchema } from './schema.ts';

/** Where a schema says nothing to make an example of. */
const NONE = Symbol('no example');

const MOMENT = '2026-11-16T15:04:05.000Z';

/** An example made of those that the schema and its parts give; undefined where a part that must be there gives none. */
export function exampleOf(nouns: Nouns, schema: DocumentSchema): unknown {
  const made = make(nouns, schema);
  return made === NONE ? undefined : made;
}

function make(nouns: Nouns, given: DocumentSchema): unknown {
  const schema = nouns.resolve(given);
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return union[0] === undefined ? NONE : make(nouns, union[0]);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return makeObject(nouns, schema);
    case 'array': {
      const item = schema.items === undefined ? NONE : make(nouns, schema.items);
      return item === NONE ? NONE : [item];
    }
    case 'string':
      return schema.format === 'date-time' ? MOMENT : NONE;
    case 'boolean':
      return true;
    default:
      return type === 'null' ? null : NONE;
  }
}

/** What may be left out is left out, unless it says what it looks like. */
function makeObject(nouns: Nouns, schema: DocumentSchema): unknown {
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(name) ?? false;
    if (!isRequired && nouns.resolve(property).examples === undefined) continue;
    const value = make(nouns, property);
    if (value === NONE) return NONE;
    made[name] = value;
  }
  return made;
}
