export type Mode = 'test' | 'live';

/** One for each mode, where test and live work must not share what one of them can use up. */
export type ByMode<Value> = Readonly<Record<Mode, Value>>;

/**
 * An organisation in one mode: the owner of every row. Test and live are two tenants that share nothing, and so are the
 * test mode before a reset of the sandbox and after it: each reset opens the next epoch, a tenant of its own.
 */
export interface Tenant {
  readonly id: string;
  readonly organisationId: string;
  readonly mode: Mode;
  /** How often the sandbox was reset before; always 0 in live mode. */
  readonly epoch: number;
}

export function tenantOf(organisationId: string, mode: Mode, epoch = 0): Tenant {
  const id = epoch === 0 ? `${organisationId}.${mode}` : `${organisationId}.${mode}.${epoch}`;
  return { id, organisationId, mode, epoch };
}

export function parseTenantId(id: string): Tenant {
  const dot = id.lastIndexOf('.');
  const last = id.slice(dot + 1);
  if (last === 'test' || last === 'live')
    return { id, organisationId: id.slice(0, dot), mode: last, epoch: 0 };
  const organisationId = id.slice(0, id.lastIndexOf('.', dot - 1));
  return { id, organisationId, mode: 'test', epoch: Number(last) };
}

/** Whoever locks or writes several rows does so in this order, so that no two ever wait for each other. */
export function compareTenantKeys(
  a: { tenantId: string; id: string },
  b: { tenantId: string; id: string },
): number {
  if (a.tenantId !== b.tenantId) return a.tenantId < b.tenantId ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
