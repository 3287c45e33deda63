export type Mode = 'test' | 'live';

/** One for each mode, where test and live work must not share what one of them can use up. */
export type ByMode<Value> = Readonly<Record<Mode, Value>>;

/** An organisation in one mode: the owner of every row. Test and live are two tenants that share nothing. */
export interface Tenant {
  readonly id: string;
  readonly organisationId: string;
  readonly mode: Mode;
}

export function tenantOf(organisationId: string, mode: Mode): Tenant {
  return { id: `${organisationId}.${mode}`, organisationId, mode };
}

export function parseTenantId(id: string): Tenant {
  const dot = id.lastIndexOf('.');
  return tenantOf(id.slice(0, dot), id.slice(dot + 1) === 'live' ? 'live' : 'test');
}
