import { type TProperties, Type } from 'typebox';

/** Schemas that the tools of most platforms share. */
export const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export const nullableText = Type.Union([Type.String(), Type.Null()]);
export const nullableCount = Type.Union([Type.Integer(), Type.Null()]);

/** An id as the vendor writes it: printable, without the characters that part an address. */
export const vendorId = (description: string, pattern = '^[A-Za-z0-9_-]{1,128}$') =>
  Type.String({ pattern, description });

export const message = (lengthMax: number, description: string) =>
  Type.String({ minLength: 1, maxLength: lengthMax, description });

const URL_LENGTH_MAX = 2_048;

/** A public address of something that the vendor fetches itself: `@` may stand in its path, and in its host would be a login. */
export const mediaUrl = (description: string) =>
  Type.String({
    ...{ maxLength: URL_LENGTH_MAX, description },
    pattern: '^https://[^\\s\\\\@/?#]+([/?#][^\\s\\\\]*)?$',
  });

export const searchQuery = (description: string) =>
  Type.String({ minLength: 1, maxLength: 500, description });

export const moment = (description: string) => Type.String({ format: 'date-time', description });
