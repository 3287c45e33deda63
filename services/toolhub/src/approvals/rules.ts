import type { Changes, Database, Queryable } from '@libs/db';
import { type ApprovalRules, NO_RULES } from './approval.ts';
import { findRules, forgetRemembered, remember, writeRules } from './store.ts';

export interface RulesListener {
  /** In this process, before the call that changed them returns. */
  forget(customerId: string): void;
  /** In every process, soon after; null when messages may have been missed. */
  heard(customerId: string | null): void;
}

/** The rules of customers, and how all processes learn that they changed. Whoever needs them often remembers them. */
export interface RuleBook {
  rulesOf(customerId: string): Promise<ApprovalRules>;
  /** All of them anew; who was remembered has to ask again. */
  replace(customerId: string, rules: Omit<ApprovalRules, 'remembered'>): Promise<void>;
  /** In the transaction of the decision; `changed` is called after it. */
  rememberIn(tx: Queryable, pair: { customerId: string; client: string; tool: string }): Promise<void>;
  changed(customerId: string): void;
  subscribe(listener: RulesListener): void;
}

const TOPIC = 'approval_rules';

export function createRuleBook(deps: {
  database: Database;
  changes: Pick<Changes, 'publish' | 'on'>;
  now: () => Date;
}): RuleBook {
  const { database, changes, now } = deps;
  const listeners: RulesListener[] = [];
  changes.on(TOPIC, (customerId) => {
    for (const listener of listeners) listener.heard(customerId);
  });

  function changed(customerId: string): void {
    for (const listener of listeners) listener.forget(customerId);
  }

  return {
    rulesOf: async (customerId) => (await findRules(database, customerId)) ?? NO_RULES,
    async replace(customerId, rules) {
      await database.transaction(async (tx) => {
        await writeRules(tx, { ...rules, customerId, at: now() });
        await forgetRemembered(tx, customerId);
        await changes.publish(tx, TOPIC, customerId);
      });
      changed(customerId);
    },
    async rememberIn(tx, pair) {
      await remember(tx, { ...pair, at: now() });
      await changes.publish(tx, TOPIC, pair.customerId);
    },
    changed,
    subscribe: (listener) => void listeners.push(listener),
  };
}
