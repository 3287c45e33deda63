import { List, type ListParams } from '../pagination.ts';
import type { HttpClient, RequestOptions } from '../request.ts';
import type { LedgerAccount, LedgerCheck, LedgerEntry } from '../types.ts';

export interface LedgerEntryFilters {
  payment_id?: string | undefined;
  account_id?: string | undefined;
}

export class LedgerResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  accounts(params?: ListParams, options?: RequestOptions): List<LedgerAccount> {
    return new List(this.#http, { method: 'GET', path: '/v1/ledger/accounts', query: params, options });
  }

  entries(params?: LedgerEntryFilters & ListParams, options?: RequestOptions): List<LedgerEntry> {
    return new List(this.#http, { method: 'GET', path: '/v1/ledger/entries', query: params, options });
  }

  /** Proves that sums are zero, balances match entries, and entries match the payments' states. */
  check(options?: RequestOptions): Promise<LedgerCheck> {
    return this.#http.send({ method: 'GET', path: '/v1/ledger/check', options });
  }
}
