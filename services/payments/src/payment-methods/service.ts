import assert from 'node:assert/strict';
import type { Database, Queryable } from '@libs/db';
import type { NewId, Sealer } from '@libs/seal';
import type { Clocks } from '../clock/service.ts';
import { errors } from '../errors.ts';
import type { EventType, PaymentsEvent } from '../events/event.ts';
import { type EventService, writeEvents } from '../events/service.ts';
import { lockForChange, openLedgerBalance } from '../ledger/service.ts';
import type { PaymentReading } from '../payments/reading.ts';
import { RAIL_IDS } from '../rails/rail-ids.ts';
import type { ByMode, Tenant } from '../tenant.ts';
import { compareTenantKeys, parseTenantId } from '../tenant.ts';
import { createAccountVault } from './account-vault.ts';
import type { Directory } from './directory.ts';
import {
  BALANCE_CURRENCY,
  type BalanceView,
  type BankAccount,
  emptyBalance,
  type MethodCorrection,
  type MethodFilter,
  type MethodKey,
  methodToApi,
  type PaymentMethod,
  TEST_HOLDER_NAME,
  type ViewedMethod,
} from './method.ts';
import {
  findFingerprint,
  findMethods,
  findView,
  insertMethods,
  listViews,
  lockMethod,
  markDeleted,
  reopenWithMoney,
  updateBankAccount,
} from './store.ts';
import {
  accountNumberFor,
  mayBecomeTestAccount,
  NO_RTP_ID,
  TEST_ROUTING_NUMBER,
  TEST_ROUTING_NUMBER_WITHOUT_RTP,
} from './test-accounts.ts';

export interface NewBankAccount {
  routingNumber: string;
  accountNumber: string;
  accountType: BankAccount['accountType'];
  holderName: string;
  holderType: BankAccount['holderType'];
}

export interface NewMethodInput {
  /** Null opens a balance. */
  bank: NewBankAccount | null;
  metadata: Readonly<Record<string, string>>;
}

export interface PaymentMethodsDependencies {
  databases: ByMode<Database>;
  sealer: Sealer;
  directory: Directory;
  clocks: Pick<Clocks, 'timesOf'>;
  /** Real time: that of the organisation is the clocks'. */
  now: () => Date;
  newId: NewId;
  events: Pick<EventService, 'record'>;
  payments: Pick<PaymentReading, 'useMethod'>;
}

export function createPaymentMethods(deps: PaymentMethodsDependencies) {
  const { databases, directory, clocks, now, newId } = deps;
  const vault = createAccountVault(deps.sealer);

  function eventOf(
    type: EventType,
    method: PaymentMethod,
    at: Date,
    balance: BalanceView | null = null,
  ): PaymentsEvent {
    return {
      tenantId: method.tenantId,
      id: newId('evt'),
      type,
      subjectId: method.id,
      data: JSON.stringify(methodToApi(method, balance)),
      occurredAt: at,
      createdAt: now(),
    };
  }

  /** The account with its number sealed to this method; equal accounts keep one fingerprint when keys rotate. */
  async function sealAccount(db: Queryable, key: MethodKey, given: NewBankAccount): Promise<BankAccount> {
    const bank = vault.seal(key, given);
    const known = await findFingerprint(db, key.tenantId, vault.fingerprints(key.tenantId, given));
    return known === undefined ? bank : { ...bank, fingerprint: known };
  }

  return {
    /** Stores a method and its event, in the caller's transaction. */
    async create(tx: Queryable, tenant: Tenant, input: NewMethodInput): Promise<ViewedMethod> {
      const id = newId('pm');
      const at = (await clocks.timesOf(tx, [tenant.id])).at(tenant.id);
      const rails = input.bank ? directory.railsOf(input.bank.routingNumber, tenant.mode) : balanceRails;
      const method: PaymentMethod = {
        tenantId: tenant.id,
        id,
        type: input.bank ? 'bank_account' : 'balance',
        bank: input.bank && (await sealAccount(tx, { tenantId: tenant.id, id }, input.bank)),
        railsSend: rails.send,
        railsReceive: rails.receive,
        metadata: input.metadata,
        createdAt: at,
        updatedAt: at,
        deletedAt: null,
      };
      await insertMethods(tx, [{ method, sortId: id }]);
      const balance = input.bank ? null : emptyBalance;
      if (balance) {
        await openLedgerBalance(tx, { tenantId: tenant.id, paymentMethodId: id, currency: BALANCE_CURRENCY });
      }
      await deps.events.record(tx, [eventOf('payment_method.created', method, at, balance)]);
      return { method, balance, sortId: id };
    },

    async get(tenant: Tenant, id: string, db: Queryable = databases[tenant.mode]): Promise<ViewedMethod> {
      const view = await findView(db, { tenantId: tenant.id, id });
      if (view === undefined) throw notFound();
      return view;
    },

    list(tenant: Tenant, filter: MethodFilter): Promise<ViewedMethod[]> {
      return listViews(databases[tenant.mode], tenant.id, filter);
    },

    /** A deleted method stays known to its payments and is never used again, unless a return concerns its money. */
    remove(tenant: Tenant, id: string): Promise<void> {
      const key = { tenantId: tenant.id, id };
      return databases[tenant.mode].transaction(async (tx) => {
        const method = await lockMethod(tx, key);
        if (method === undefined || method.deletedAt !== null) throw notFound();
        if (method.type === 'balance') await refuseMoney(tx, key);
        const times = await clocks.timesOf(tx, [tenant.id]);
        const at = laterOf(times.at(tenant.id), method.updatedAt);
        // Marked first: it raises the tenant's version, which waits for the payments that are being accepted, and
        // refuses those that come later. Only then the look for open payments sees all that there will ever be.
        await markDeleted(tx, key, at);
        if (await deps.payments.useMethod(tx, key)) throw errors.payment_method_in_use();
        const deleted = { ...method, updatedAt: at, deletedAt: at };
        const balance = method.type === 'balance' ? emptyBalance : null;
        await deps.events.record(tx, [eventOf('payment_method.deleted', deleted, at, balance)]);
      });
    },

    /**
     * Takes the deletion of balances back into which a late return has put money, or which it leaves owing: else nobody
     * could reach it. The caller has locked the balances, so that none of them is deleted after this look.
     */
    async reopen(tx: Queryable, keys: readonly MethodKey[], atOf: (key: MethodKey) => Date): Promise<void> {
      const deleted = (await findMethods(tx, keys)).filter(({ deletedAt }) => deletedAt !== null);
      for (const key of deleted.sort(compareTenantKeys)) {
        const at = atOf(key);
        if (!(await reopenWithMoney(tx, key, at))) continue;
        const view = await findView(tx, key);
        assert(view, `payment method ${key.id} was just reopened`);
        await deps.events.record(tx, [eventOf('payment_method.updated', view.method, at, view.balance)]);
      }
    },

    /** Deleted ones too: `deletedAt` tells. */
    find: findMethods,

    /** The test account that an id becomes which nobody has stored; undefined where it must be stored. */
    atFirstUse(key: MethodKey, tenant: Tenant, at: Date): PaymentMethod | undefined {
      if (tenant.mode !== 'test' || !mayBecomeTestAccount(key.id)) return undefined;
      const routingNumber = key.id === NO_RTP_ID ? TEST_ROUTING_NUMBER_WITHOUT_RTP : TEST_ROUTING_NUMBER;
      const rails = directory.railsOf(routingNumber, 'test');
      return {
        ...key,
        type: 'bank_account',
        bank: vault.seal(key, {
          routingNumber,
          accountNumber: accountNumberFor(key.id),
          accountType: 'checking',
          holderName: TEST_HOLDER_NAME,
          holderType: 'individual',
        }),
        railsSend: rails.send,
        railsReceive: rails.receive,
        metadata: {},
        createdAt: at,
        updatedAt: at,
        deletedAt: null,
      };
    },

    /**
     * Stores methods made at first use, and their events, which the caller delivers; repeats change nothing. In one order, whoever
     * asks, so that two who store the same new ones never wait for each other.
     */
    async insert(tx: Queryable, unordered: readonly PaymentMethod[]): Promise<PaymentsEvent[]> {
      const methods = unordered.toSorted(compareTenantKeys);
      const added = await insertMethods(
        tx,
        methods.map((method) => ({ method, sortId: newId('pm') })),
      );
      const events = methods
        .filter((method) => added.has(`${method.tenantId} ${method.id}`))
        .map((method) => eventOf('payment_method.created', method, method.createdAt));
      await writeEvents(tx, events);
      return events;
    },

    /** Stores what a bank said is right; nothing where the method is gone or has these details already. */
    async applyCorrection(
      tx: Queryable,
      key: MethodKey,
      correction: MethodCorrection,
      at: Date,
    ): Promise<PaymentMethod | undefined> {
      const method = await lockMethod(tx, key);
      if (method === undefined || method.bank === null || method.deletedAt !== null) return undefined;
      const { bank } = method;
      const before = { ...bank, accountNumber: vault.open(key, bank) };
      const after = { ...before, ...withoutUndefined(correction) };
      if (isSameAccount(before, after)) return undefined;
      const rails = directory.railsOf(after.routingNumber, parseTenantId(key.tenantId).mode);
      const corrected: PaymentMethod = {
        ...method,
        bank: await sealAccount(tx, key, after),
        railsSend: rails.send,
        railsReceive: rails.receive,
        updatedAt: at,
      };
      await updateBankAccount(tx, corrected, corrected.bank as BankAccount);
      await deps.events.record(tx, [eventOf('payment_method.updated', corrected, at)]);
      return corrected;
    },

    /** The account number, for the messages of a rail and nothing else. */
    openAccountNumber(method: PaymentMethod): string {
      assert(method.bank, `payment method ${method.id} has no account number`);
      return vault.open(method, method.bank);
    },
  };
}

export type PaymentMethods = ReturnType<typeof createPaymentMethods>;

const balanceRails = { send: RAIL_IDS, receive: RAIL_IDS };

/** Versions before this one stamped with real time what a clock that stands still has not come to yet. */
function laterOf(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function notFound(): Error {
  return errors.not_found({ detail: 'There is no such payment method.' });
}

/** With the balance locked, so that no payment can put money in between the look and the deletion. */
async function refuseMoney(tx: Queryable, { tenantId, id }: MethodKey): Promise<void> {
  const [balance] = await lockForChange(tx, [{ tenantId, paymentMethodId: id }]);
  if (balance === undefined) return;
  const { posted, held, incoming, owed } = balance;
  if (posted !== 0 || owed !== 0) throw errors.balance_not_empty();
  if (held !== 0 || incoming !== 0) throw errors.payment_method_in_use();
}

function withoutUndefined(correction: MethodCorrection): MethodCorrection {
  return Object.fromEntries(Object.entries(correction).filter(([, value]) => value !== undefined));
}

function isSameAccount(a: NewBankAccount, b: NewBankAccount): boolean {
  return (
    a.routingNumber === b.routingNumber &&
    a.accountNumber === b.accountNumber &&
    a.accountType === b.accountType &&
    a.holderName === b.holderName
  );
}
