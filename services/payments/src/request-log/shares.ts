/** Of each tenant's calls in a second, this many are kept; what was refused or failed has a share of its own. */
export const TENANT_PER_SECOND = 20;
/** Of all calls that this process answers in a second. */
const PROCESS_PER_SECOND = 200;

interface Taken {
  answered: number;
  failed: number;
}

/**
 * Who may have a call kept in this second. Most calls under load are only counted here, so this is two look-ups and no
 * more; what is left out is told to the tenant.
 */
export class Shares {
  #second = 0;
  #total = 0;
  readonly #taken = new Map<string, Taken>();
  #leftOut = new Map<string, number>();

  /** Whether this call is kept. */
  take(tenantId: string, failed: boolean, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#total = 0;
      this.#taken.clear();
    }
    let taken = this.#taken.get(tenantId);
    if (taken === undefined) {
      taken = { answered: 0, failed: 0 };
      this.#taken.set(tenantId, taken);
    }
    const kind = failed ? 'failed' : 'answered';
    if (taken[kind] >= TENANT_PER_SECOND || this.#total >= PROCESS_PER_SECOND) {
      this.leaveOut(tenantId);
      return false;
    }
    taken[kind] += 1;
    this.#total += 1;
    return true;
  }

  leaveOut(tenantId: string): void {
    this.#leftOut.set(tenantId, (this.#leftOut.get(tenantId) ?? 0) + 1);
  }

  /** How many calls of each tenant were not kept since this was last asked. */
  takeLeftOut(): ReadonlyMap<string, number> {
    const leftOut = this.#leftOut;
    this.#leftOut = new Map();
    return leftOut;
  }
}
