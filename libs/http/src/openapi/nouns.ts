import { isDeepStrictEqual } from 'node:util';
import type { DocumentSchema } from './schema.ts';

const NOUN = /^[A-Z][A-Za-z0-9]*$/;
const REFERENCE = '#/components/schemas/';

/**
 * Brings the schemas of routes into the form of the document. One whose title is a noun (`Payment`) becomes a component,
 * and every place that uses it refers to it; the schemas that check and write bodies stay as they are.
 */
export class Nouns {
  readonly components: Record<string, DocumentSchema> = {};

  /** A field of a request with a default can be left out; an answer always has it. */
  place(schema: DocumentSchema, side: 'request' | 'answer'): DocumentSchema {
    const { title } = schema;
    const converted = this.#convert(schema, side);
    if (title === undefined || !NOUN.test(title)) return converted;
    const known = this.components[title];
    if (known !== undefined && !isDeepStrictEqual(known, converted))
      throw new TypeError(`Two different schemas have the title ${title}`);
    this.components[title] = converted;
    return { $ref: `${REFERENCE}${title}` };
  }

  resolve(schema: DocumentSchema): DocumentSchema {
    if (schema.$ref === undefined) return schema;
    const found = this.components[schema.$ref.slice(REFERENCE.length)];
    if (found === undefined) throw new TypeError(`${schema.$ref} leads nowhere`);
    return found;
  }

  #convert(schema: DocumentSchema, side: 'request' | 'answer'): DocumentSchema {
    const converted: DocumentSchema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === undefined || keyword === '$id' || keyword === 'title' || keyword.startsWith('~'))
        continue;
      converted[keyword] = this.#keyword(keyword, value, side);
    }
    if ('const' in converted) {
      converted.enum = [converted.const];
      delete converted.const;
    }
    if (side === 'request' && converted.required !== undefined) {
      const isGiven = (name: string) => converted.properties?.[name]?.default === undefined;
      converted.required = converted.required.filter(isGiven);
      if (converted.required.length === 0) delete converted.required;
    }
    return converted.anyOf === undefined ? converted : simplerUnion(converted, converted.anyOf);
  }

  #keyword(keyword: string, value: unknown, side: 'request' | 'answer'): unknown {
    switch (keyword) {
      case 'properties':
      case 'patternProperties':
        return Object.fromEntries(
          Object.entries(value as Record<string, DocumentSchema>).map(([name, property]) => [
            name,
            this.place(property, side),
          ]),
        );
      case 'anyOf':
      case 'oneOf':
      case 'allOf':
        return (value as DocumentSchema[]).map((part) => this.place(part, side));
      case 'items':
      case 'propertyNames':
        return this.place(value as DocumentSchema, side);
      case 'additionalProperties':
        return typeof value === 'object' ? this.place(value as DocumentSchema, side) : value;
      case 'required':
        return [...(value as string[])];
      default:
        return value;
    }
  }
}

/** A union of words is an enumeration, and one of a plain type with null is a type that may be null. */
function simplerUnion(schema: DocumentSchema, branches: DocumentSchema[]): DocumentSchema {
  const isWord = ({ type, enum: words }: DocumentSchema) => type === 'string' && words !== undefined;
  const words = branches.filter(isWord);
  const rest = branches.filter((branch) => !isWord(branch));
  const merged =
    words.length > 1
      ? [{ type: 'string', enum: words.flatMap((branch) => branch.enum ?? []) }, ...rest]
      : branches;
  const { anyOf: _, ...others } = schema;
  const [only, second] = merged;
  if (merged.length === 1) return { ...only, ...others };
  const isNullable = merged.length === 2 && second?.type === 'null';
  if (isNullable && typeof only?.type === 'string' && only.enum === undefined)
    return { ...only, ...others, type: [only.type, 'null'] };
  return { ...others, anyOf: merged };
}
