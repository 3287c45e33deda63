/** Why an address is refused; services show it beside `webhook_url_refused` or `address_refused`. */
export type RefusalReason =
  | 'malformed'
  | 'scheme'
  | 'plain_http'
  | 'credentials'
  | 'trailing_dot'
  | 'spelling'
  | 'local_name'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'metadata'
  | 'carrier_grade_nat'
  | 'multicast'
  | 'unspecified'
  | 'reserved'
  | 'embedded';

export interface Refusal {
  readonly ok: false;
  readonly reason: RefusalReason;
  readonly detail: string;
}

export function refuse(reason: RefusalReason, detail: string): Refusal {
  return { ok: false, reason, detail };
}

/** Thrown where a connection would have been made to an address that the policy refuses. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly code = 'EGRESS_REFUSED';
  readonly reason: RefusalReason;

  constructor(refusal: Refusal) {
    super(refusal.detail);
    this.reason = refusal.reason;
  }
}

/** Thrown where a name has no address at the time of connecting. */
export class EgressUnresolved extends Error {
  override readonly name = 'EgressUnresolved';
  readonly code = 'EGRESS_UNRESOLVED';
}
