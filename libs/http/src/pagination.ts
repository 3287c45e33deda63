import { type AppError, baseErrors } from '@libs/runtime';
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import Format from 'typebox/format';
import { defineFormats } from './input/formats.ts';

defineFormats();

export const PAGE_LIMIT_DEFAULT = 20;
export const PAGE_LIMIT_MAX = 100;
/** The longest id in the longest letters, as a cursor writes it, and room for what stands beside it. */
const CURSOR_LENGTH_MAX = 2_048;
const CURSOR_MISMATCH = { code: 'invalid_cursor', detail: 'Must be the next_cursor of an earlier answer.' };
/** What no list can have made is refused with all else that is wrong with a query; what another list made, by the list. */
const CURSOR_FORMAT = 'cursor';
Format.Set(CURSOR_FORMAT, (text) => parse(text) !== undefined);

const limit = Type.Integer({
  minimum: 1,
  maximum: PAGE_LIMIT_MAX,
  default: PAGE_LIMIT_DEFAULT,
  description: 'How many items to return.',
});
const cursor = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: CURSOR_LENGTH_MAX,
    format: CURSOR_FORMAT,
    'x-mismatch': CURSOR_MISMATCH.detail,
    'x-mismatch-code': CURSOR_MISMATCH.code,
    description: '`next_cursor` of the page before.',
  }),
);

/** The query of a list: `limit`, `cursor` and its own filters; anything else is refused by name. */
export function listQuery<Filters extends TProperties = Record<never, never>>(
  filters: Filters = {} as Filters,
) {
  return Type.Object({ limit, cursor, ...filters }, { additionalProperties: false });
}

/** `{data, next_cursor}`. */
export function listSchema<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item), next_cursor: NextCursor }, listTitle(item));
}

/** `{object: "list", data, next_cursor}`, for APIs whose objects name their type. */
export function objectListSchema<Item extends TSchema>(item: Item) {
  return Type.Object(
    { object: Type.Literal('list'), data: Type.Array(item), next_cursor: NextCursor },
    listTitle(item),
  );
}

const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'Send it as `cursor` to get the next page; null on the last one.',
  examples: [null],
});

/** The list of a noun is a noun of its own. */
function listTitle(item: TSchema): { title?: string } {
  const { title } = item as { title?: string };
  return title === undefined ? {} : { title: `${title}List` };
}

export type CursorCodec<Position> = {
  encode(position: Position): string;
  /** Throws 400 `invalid_query` that names `cursor`. */
  decode(text: string): Position;
  decode(text: string | undefined): Position | undefined;
};

/** Where a list goes on, as text that callers do not look into; the schema refuses what we did not make. */
export function cursorCodec<const Schema extends TSchema>(schema: Schema): CursorCodec<Static<Schema>> {
  const validator = Compile(schema as TSchema);
  const decode = (text: string | undefined): Static<Schema> | undefined => {
    if (text === undefined) return undefined;
    const position = parse(text);
    if (!validator.Check(position)) throw badCursor();
    return position as Static<Schema>;
  };
  return {
    encode: (position) => Buffer.from(JSON.stringify(position)).toString('base64url'),
    decode: decode as CursorCodec<Static<Schema>>['decode'],
  };
}

/** Undefined where it is no text of ours. */
function parse(text: string): unknown {
  if (text.length > CURSOR_LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** 400 `invalid_query` that names `cursor`. */
export function badCursor(): AppError {
  return baseErrors.invalid_query({ errors: [{ parameter: 'cursor', ...CURSOR_MISMATCH }] });
}

/** A tuple is taken as one, and not as an array of any length. */
type CursorPosition = [unknown, ...unknown[]] | object;

/** How one page of a list comes about. */
export interface PageSource<Position extends CursorPosition, Row, Item> {
  readonly cursor: CursorCodec<Position>;
  /** Rows behind `from`, or the first ones; one more is asked for than is shown, which tells whether there are more. */
  read(page: { from: Position | undefined; limit: number }): Promise<readonly Row[]>;
  /** Where the next page begins when this row is the last of one. */
  positionOf(row: Row): Position;
  show(row: Row): Item;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** `{data, next_cursor}`, as `listSchema` has it. */
export async function listPage<Position extends CursorPosition, Row, Item>(
  { limit, cursor }: PageQuery,
  source: PageSource<Position, Row, Item>,
): Promise<{ data: Item[]; next_cursor: string | null }> {
  const rows = await source.read({ from: source.cursor.decode(cursor), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    data: shown.map((row) => source.show(row)),
    next_cursor: last === undefined ? null : source.cursor.encode(source.positionOf(last)),
  };
}

/** `{object: "list", data, next_cursor}`, as `objectListSchema` has it. */
export async function objectListPage<Position extends CursorPosition, Row, Item>(
  query: PageQuery,
  source: PageSource<Position, Row, Item>,
): Promise<{ object: 'list'; data: Item[]; next_cursor: string | null }> {
  return { object: 'list', ...(await listPage(query, source)) };
}
