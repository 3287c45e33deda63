import { Skeleton, Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts } from '../texts.ts';
import { type Column, columnsFor } from './columns-for.ts';
import { TableRoom } from './table-room.tsx';

const SKELETON_ROWS = ['a', 'b', 'c', 'd', 'e'];

/**
 * Rows with named columns; on a phone each row becomes a card. Where a row leads somewhere, the link in its first column
 * (`data-row`) covers the whole row, so that there is one stop for the keyboard and one name for a screen reader.
 */
export function DataTable<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[] | undefined;
  keyOf: (row: Row) => string;
  empty?: ReactNode;
}) {
  const { rows } = props;
  const columns = columnsFor(props.columns, rows);
  if (rows?.length === 0 && props.empty !== undefined) return <>{props.empty}</>;
  return (
    <TableRoom label={props.label}>
      <Table className="ui-table" highlightOnHover aria-busy={rows === undefined}>
        <caption>
          <VisuallyHidden>{props.label}</VisuallyHidden>
        </caption>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ header, align }) => (
              <Table.Th key={header} scope="col" data-align={align}>
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows === undefined
            ? SKELETON_ROWS.map((key) => <SkeletonRow key={key} columns={columns.length} />)
            : rows.map((row) => (
                <Table.Tr key={props.keyOf(row)}>
                  {columns.map(({ header, align, wide, written, render, has }) => (
                    <Table.Td
                      key={header}
                      data-label={header}
                      data-align={align}
                      data-wide={wide || undefined}
                      data-written={written || undefined}
                    >
                      {has === undefined || has(row) ? render(row) : ''}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </TableRoom>
  );
}

function SkeletonRow({ columns }: { columns: number }) {
  return (
    <Table.Tr>
      <Table.Td colSpan={columns}>
        <Skeleton height={16} />
        <VisuallyHidden>{texts.loading}</VisuallyHidden>
      </Table.Td>
    </Table.Tr>
  );
}
