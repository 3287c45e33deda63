import {
  ADDENDA_05,
  ADDENDA_98,
  ADDENDA_99,
  BATCH_CONTROL,
  BATCH_HEADER,
  ENTRY,
  FILE_CONTROL,
  FILE_HEADER,
  type Field,
} from '../../../src/rails/ach/nacha/layout.ts';

type Layout = Readonly<Record<string, Field>>;

const addendaByType: Readonly<Record<string, Layout>> = {
  '05': ADDENDA_05,
  '98': ADDENDA_98,
  '99': ADDENDA_99,
};

const FILLER = /^9{94}$/;

export interface NachaField {
  name: string;
  text: string;
}

function layoutOf(line: string): Layout | undefined {
  if (FILLER.test(line)) return undefined;
  switch (line[0]) {
    case '1':
      return FILE_HEADER;
    case '5':
      return BATCH_HEADER;
    case '6':
      return ENTRY;
    case '7':
      return addendaByType[line.slice(1, 3)];
    case '8':
      return BATCH_CONTROL;
    case '9':
      return FILE_CONTROL;
    default:
      return undefined;
  }
}

/** The fields of one line; a line that is none of the records is one field without a name. */
export function fieldsOf(line: string): NachaField[] {
  const layout = layoutOf(line);
  if (layout === undefined) return [{ name: '', text: line }];
  return Object.entries(layout).map(([name, { at, width }]) => ({ name, text: line.slice(at, at + width) }));
}
