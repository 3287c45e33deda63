import { type Static, Type } from 'typebox';
import { textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableText } from '../vendor-api/tool-schemas.ts';
import { shape } from './api.ts';

export const authorSchema = closed({ did: Type.String(), handle: nullableText, display_name: nullableText });

export function readAuthor(value: unknown): Static<typeof authorSchema> {
  const author = shape.object(value);
  return {
    did: shape.text(author.did),
    handle: textOrNull(author.handle),
    display_name: textOrNull(author.displayName),
  };
}
