import type { Queryable } from '@libs/db';
import type { Tenant } from '../../tenant.ts';
import { findContexts } from './context-store.ts';
import type { ContextQuestion, KnownTenant, KnownTenants } from './known-tenant.ts';

interface Asking {
  tenant: Tenant;
  input: { sourceId: string; destinationId: string };
}

const TENANTS_MAX = 2_000;
const METHODS_MAX = 50_000;

/**
 * Remembers tenants from batch to batch, so that accepting is one statement and not two. What it remembers may be out
 * of date, and it listens for nothing: the statement that writes compares the versions, and those that have moved on
 * are forgotten and read again.
 */
export class TenantContexts {
  readonly #tenants = new Map<string, KnownTenant>();
  #methods = 0;

  /** What is known of the tenants, and which of them are only `remembered`: all others were read just now. */
  async load(
    db: Queryable,
    requests: readonly Asking[],
  ): Promise<{ known: KnownTenants; remembered: ReadonlySet<string> }> {
    const questions = questionsOf(requests);
    const known = new Map<string, KnownTenant>();
    const unanswered: ContextQuestion[] = [];
    for (const question of questions.values()) {
      const tenant = this.#tenants.get(question.tenant.id);
      if (tenant && isAnswered(question, tenant)) known.set(question.tenant.id, tenant);
      else unanswered.push(question);
    }
    const remembered = new Set(known.keys());
    if (unanswered.length === 0) return { known, remembered };
    for (const [tenantId, found] of await findContexts(db, unanswered)) {
      known.set(tenantId, this.#remember(tenantId, found));
    }
    return { known, remembered };
  }

  forget(tenantIds: Iterable<string>): void {
    for (const tenantId of tenantIds) {
      this.#methods -= this.#tenants.get(tenantId)?.methods.size ?? 0;
      this.#tenants.delete(tenantId);
    }
  }

  #remember(tenantId: string, found: KnownTenant): KnownTenant {
    const before = this.#tenants.get(tenantId);
    const isFull = this.#methods >= METHODS_MAX;
    if (before?.version === found.version && !isFull) {
      this.#methods -= before.methods.size;
      for (const [id, method] of found.methods) before.methods.set(id, method);
      this.#methods += before.methods.size;
      return before;
    }
    this.forget([tenantId]);
    if (isFull || this.#tenants.size >= TENANTS_MAX) this.#forgetOldest();
    this.#tenants.set(tenantId, found);
    this.#methods += found.methods.size;
    return found;
  }

  #forgetOldest(): void {
    for (const tenantId of this.#tenants.keys()) {
      this.forget([tenantId]);
      return;
    }
  }
}

function questionsOf(requests: readonly Asking[]): Map<string, ContextQuestion & { methodIds: Set<string> }> {
  const questions = new Map<string, ContextQuestion & { methodIds: Set<string> }>();
  for (const { tenant, input } of requests) {
    let question = questions.get(tenant.id);
    if (!question) {
      question = { tenant, methodIds: new Set() };
      questions.set(tenant.id, question);
    }
    question.methodIds.add(input.sourceId).add(input.destinationId);
  }
  return questions;
}

function isAnswered({ methodIds }: ContextQuestion, { methods }: KnownTenant): boolean {
  for (const id of methodIds) if (!methods.has(id)) return false;
  return true;
}
