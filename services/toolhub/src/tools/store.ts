import type { Queryable } from '@libs/db';

export type SwitchKind = 'platform' | 'tool';

export interface SwitchedOff {
  kind: SwitchKind;
  name: string;
}

export async function listSwitchedOff(db: Queryable, customerId: string): Promise<SwitchedOff[]> {
  const { rows } = await db.query<SwitchedOff>(
    { name: 'tools.switched_off', text: 'select kind, name from tool_switches where customer_id = $1' },
    [customerId],
  );
  return rows;
}

export async function writeSwitch(
  tx: Queryable,
  change: SwitchedOff & { customerId: string; enabled: boolean; at: Date },
): Promise<void> {
  const { customerId, kind, name } = change;
  if (change.enabled) {
    await tx.query('delete from tool_switches where customer_id = $1 and kind = $2 and name = $3', [
      customerId,
      kind,
      name,
    ]);
  } else {
    await tx.query(
      `insert into tool_switches (customer_id, kind, name, switched_off_at) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [customerId, kind, name, change.at],
    );
  }
}
