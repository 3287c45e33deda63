import { type ReactNode, useRef } from 'react';
import { useIsSideways } from '../show/sideways.ts';
import { texts } from '../texts.ts';

/** Where a table is wider than its window it moves by itself, by the keyboard as well, and its edges show that there is more. */
export function TableRoom({ label, children }: { label: string; children: ReactNode }) {
  const room = useRef<HTMLDivElement>(null);
  const isSideways = useIsSideways(room);
  return (
    <div
      ref={room}
      className="ui-table-room"
      data-sideways={isSideways || undefined}
      {...(isSideways ? { role: 'region', 'aria-label': texts.sideways(label), tabIndex: 0 } : {})}
    >
      {children}
    </div>
  );
}
