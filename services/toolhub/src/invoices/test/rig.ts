import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { createMailer } from '@libs/mail';
import { createIdFactory } from '@libs/seal';
import { createEmitEvent } from '../../events/service.ts';
import { migrationSource } from '../../schema.ts';
import { createInvoiceService, type InvoiceService, type InvoiceServiceDependencies } from '../service.ts';

export const PERIOD = '2026-10';
const RUN_AT = new Date('2026-11-01T00:10:00Z');
const seller = {
  issuer: { name: 'Toolhub', lines: ['billing@toolhub.example'], taxId: null },
  payment: { details: [], url: null },
};
export const never = new AbortController().signal;

export interface CustomerInput {
  id?: string;
  plan?: string;
  name?: string;
  createdAt?: Date;
  isVerified?: boolean;
  /** Calls that succeeded, by date and platform. */
  calls?: readonly { day: string; platform: string; calls: number; errors?: number }[];
}

const newId = createIdFactory({ now: () => new Date(), randomBytes });

/** A customer as sign-up, billing and the meter would have left it. */
export async function addCustomer(database: Database, input: CustomerInput = {}): Promise<string> {
  const id = input.id ?? newId('cus');
  await database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at, email_verified_at)
     values ($1, $2, $3, 'x', $4, $5, $6)`,
    [
      id,
      `${id}@example.com`,
      input.name ?? `Customer ${id.slice(-4)}`,
      input.plan ?? 'free',
      input.createdAt ?? new Date('2026-01-01T00:00:00Z'),
      input.isVerified === false ? null : new Date('2026-01-01T00:00:00Z'),
    ],
  );
  for (const { day, platform, calls, errors = 0 } of input.calls ?? [])
    await database.query(
      `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors, given_back)
       values ($1, $2, $3, 1, $4, $5, $6, $6)`,
      [id, day, `${platform}_tool`, platform, calls + errors, errors],
    );
  return id;
}

export interface Rig {
  invoices: InvoiceService;
  folder: string;
  errors: unknown[];
  clock: { now: Date };
  /** The `.eml` files, by the invoice that they carry. */
  mails(): Promise<Map<string, string>>;
  remove(): Promise<void>;
}

export async function createRig(
  database: Database,
  overrides: Partial<InvoiceServiceDependencies> & { folder?: string } = {},
): Promise<Rig> {
  const folder = overrides.folder ?? (await mkdtemp(join(tmpdir(), 'toolhub-invoices-')));
  const clock = { now: RUN_AT };
  const now = () => clock.now;
  const errors: unknown[] = [];
  const mailer = createMailer({
    smtpUrl: undefined,
    folder,
    from: 'Toolhub <billing@toolhub.example>',
    host: 'toolhub.example',
    now,
  });
  const invoices = createInvoiceService({
    database,
    mailer,
    seller,
    publicUrl: 'https://toolhub.example',
    emitEvent: createEmitEvent({ newId, now }),
    platformTitle: (platform) => platform,
    newId,
    now,
    onError: (error) => errors.push(error),
    ...overrides,
  });
  return {
    invoices,
    folder,
    errors,
    clock,
    async mails() {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.eml'));
      return new Map(
        await Promise.all(
          names.map(async (name) => [name.slice(0, -4), await readFile(join(folder, name), 'utf8')] as const),
        ),
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface OwnRig extends Rig {
  database: Database;
  databaseUrl: string;
}

/** A rig on a database of its own, which goes with it. */
export async function createOwnRig(): Promise<OwnRig> {
  const { database, url, drop } = await createTestDatabase(migrationSource);
  const rig = await createRig(database);
  return {
    ...rig,
    database,
    databaseUrl: url,
    async remove() {
      await rig.remove();
      await drop();
    },
  };
}
