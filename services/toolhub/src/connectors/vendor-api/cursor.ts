import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { ConnectorError } from '../connector.ts';

/** Where a list goes on, as text that callers do not look into. */
export function encodeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

export function decodeCursor<Schema extends TSchema>(
  schema: Schema,
  cursor: string | undefined,
): Static<Schema> | undefined {
  if (cursor === undefined) return undefined;
  let position: unknown;
  try {
    position = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw badCursor();
  }
  if (!Check(schema, position) || !isText(position)) throw badCursor();
  return position as Static<Schema>;
}

/** Texts that no database and no address takes stand in no cursor of ours. */
function isText(position: unknown): boolean {
  const values = typeof position === 'object' && position !== null ? Object.values(position) : [position];
  return values.every(
    (value) => typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0')),
  );
}

export function badCursor(): ConnectorError {
  return new ConnectorError(
    'invalid_arguments',
    'the cursor is not one that this list gave, or it is too old',
  );
}
