// What the OpenAPI document says of the API's objects, in a form that both languages are written from.

export type Shape =
  | { kind: 'text' | 'integer' | 'number' | 'boolean' | 'anything' | 'nothing' }
  | { kind: 'literals'; values: readonly string[] }
  | { kind: 'list'; item: Shape }
  | { kind: 'map'; value: Shape }
  | { kind: 'either'; parts: readonly Shape[] }
  | { kind: 'named'; name: string };

export interface Field {
  name: string;
  shape: Shape;
  optional: boolean;
  about: string | undefined;
}

export type Definition =
  | { kind: 'object'; name: string; fields: readonly Field[] }
  | { kind: 'alias'; name: string; shape: Shape };

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  description?: string;
}

interface Media {
  content?: Record<string, { schema?: Schema }>;
}

export interface Document {
  paths: Record<string, Record<string, { requestBody?: Media; responses?: Record<string, Media> }>>;
  components?: { schemas?: Record<string, Schema> };
}

/** Where a noun stands in the document: an operation, and its body (`body`), an answer, or the items of a list. */
export interface Place {
  name: string;
  operation: string;
  part: 'body' | { status: string; items?: true };
}

/** Other names than the document's, and names for what it leaves without one: `Payment.status` and so on. */
export type Names = Readonly<Record<string, string>>;

function schemaAt(document: Document, { operation, part }: Place): Schema {
  const [method, path] = operation.split(' ') as [string, string];
  const found = document.paths[path]?.[method.toLowerCase()];
  const media = part === 'body' ? found?.requestBody : found?.responses?.[part.status];
  const schema = media?.content?.['application/json']?.schema;
  if (schema === undefined) throw new Error(`the document has no ${operation} ${JSON.stringify(part)}`);
  if (part === 'body' || !part.items) return schema;
  const items = resolve(document, schema).properties?.data?.items;
  if (items === undefined) throw new Error(`${operation} is no list`);
  return items;
}

function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.split('/').at(-1) as string;
  const target = document.components?.schemas?.[name];
  if (target === undefined) throw new Error(`${schema.$ref} leads nowhere`);
  return resolve(document, { ...target, ...(schema.description ? { description: schema.description } : {}) });
}

/** All definitions that the places need, in the order in which they are met; equal shapes share a name. */
export function readDefinitions(
  document: Document,
  places: readonly Place[],
  names: Names = {},
): Definition[] {
  const definitions = new Map<string, Definition>();
  const nameByShape = new Map<string, string>();

  function define(definition: Definition): Shape {
    const { name, ...shape } = definition;
    const known = definitions.get(name);
    if (known !== undefined && keyOf(known) !== keyOf(definition)) {
      throw new Error(`two different shapes are called ${name}: name one of them in nouns.ts`);
    }
    if (known === undefined) definitions.set(name, definition);
    if (!nameByShape.has(keyOf(shape))) nameByShape.set(keyOf(shape), name);
    return { kind: 'named', name };
  }

  /** What stands on a place of its own is called by that; a part by its noun in the document. */
  const nameAt = (given: Schema, path: string): string | undefined =>
    names[path] ?? (isPart(path) ? given.$ref?.split('/').at(-1) : path);

  function toShape(given: Schema, path: string): Shape {
    const schema = resolve(document, given);
    const own = nameAt(given, path);
    const shape = toPlain(schema, path, own);
    if (shape.kind !== 'literals') return shape;
    const known = nameByShape.get(keyOf({ kind: 'alias', shape }));
    if (own === undefined) return known === undefined ? shape : { kind: 'named', name: known };
    return define({ kind: 'alias', name: own, shape });
  }

  function toPlain(schema: Schema, path: string, name: string | undefined): Shape {
    const options = schema.anyOf ?? schema.oneOf;
    if (options !== undefined) return either(options, path);
    if (schema.const !== undefined) return { kind: 'literals', values: [String(schema.const)] };
    if (schema.enum !== undefined) return { kind: 'literals', values: schema.enum.map(String) };
    if (Array.isArray(schema.type)) {
      return either(
        schema.type.map((type) => ({ ...schema, type })),
        path,
      );
    }
    switch (schema.type) {
      case 'string':
        return { kind: 'text' };
      case 'integer':
      case 'number':
      case 'boolean':
        return { kind: schema.type };
      case 'null':
        return { kind: 'nothing' };
      case 'array':
        return { kind: 'list', item: toShape(schema.items ?? {}, `${path}[]`) };
      case 'object':
        return toObject(schema, path, name);
      default:
        return { kind: 'anything' };
    }
  }

  /** Several single words are one list of words; null stands beside them. */
  function either(options: readonly Schema[], path: string): Shape {
    const pairs = options.map((option) => ({ option, schema: resolve(document, option) }));
    const isWord = ({ enum: words, const: word }: Schema) => words !== undefined || word !== undefined;
    const words = pairs
      .filter(({ schema }) => isWord(schema))
      .flatMap(({ schema }) => schema.enum ?? [schema.const]);
    const rest = pairs.filter(({ schema }) => !isWord(schema));
    const severalObjects = rest.filter(({ schema }) => schema.type === 'object').length > 1;
    const others = rest.map(({ option, schema }) =>
      toShape(option, severalObjects ? `${path}${option.$ref ? '.' : ''}${kindOf(schema)}` : path),
    );
    if (words.length === 0)
      return others.length === 1 ? (others[0] as Shape) : { kind: 'either', parts: others };
    const listed: Shape = { kind: 'literals', values: words.map(String) };
    if (others.length === 0) return listed;
    return { kind: 'either', parts: [listed, ...others] };
  }

  function toObject(schema: Schema, path: string, name: string | undefined): Shape {
    const properties = Object.entries(schema.properties ?? {});
    if (properties.length === 0) {
      const value = schema.additionalProperties;
      return typeof value === 'object'
        ? { kind: 'map', value: toShape(value, `${path}{}`) }
        : { kind: 'map', value: { kind: 'anything' } };
    }
    const required = new Set(schema.required);
    const fieldsOf = (prefix: string): Field[] =>
      properties.map(([name, property]) => ({
        name,
        shape: toShape(property, `${prefix}.${name}`),
        optional: !required.has(name),
        about: resolve(document, property).description,
      }));
    const fields = fieldsOf(name ?? path);
    const known = nameByShape.get(keyOf({ kind: 'object', fields }));
    if (name === undefined && known !== undefined) return { kind: 'named', name: known };
    return define({ kind: 'object', name: name ?? nameFrom(path), fields });
  }

  for (const place of places) {
    const schema = schemaAt(document, place);
    const shape = toShape(schema, place.name);
    if (shape.kind !== 'named') define({ kind: 'alias', name: place.name, shape });
  }
  return [...definitions.values()];
}

/** `Payment.status`, and not `Payment`. */
function isPart(path: string): boolean {
  return /[.[]/.test(path);
}

/** What sets one of several objects apart: its `type`. */
function kindOf(schema: Schema): string {
  const type = schema.properties?.type;
  return nameFrom(String(type?.const ?? type?.enum?.[0] ?? ''));
}

/** `Payment.attempts[]` becomes `PaymentAttempts`: a name, until nouns.ts gives a better one. */
function nameFrom(path: string): string {
  return path
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

function keyOf(shape: object): string {
  return JSON.stringify(shape, (key, value) => (key === 'about' ? undefined : value));
}
