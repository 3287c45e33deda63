import { type AwayServer, type Database, findServersThere, isServerMissing } from '@libs/db';

export interface TenantServersOptions {
  readonly database: Database;
  /** Told of every look that finds one away. */
  readonly onAway: (server: AwayServer) => void;
}

interface OfTenant {
  readonly tenantId: string;
}

const NO_TENANTS: ReadonlySet<string> = new Set();

/** Which tenants' deliveries may go on, where tables are spread. On one server all may, and nothing is asked. */
export class TenantServers {
  readonly #options: TenantServersOptions;

  constructor(options: TenantServersOptions) {
    this.#options = options;
  }

  get areSeveral(): boolean {
    return this.#options.database.isSpread === true;
  }

  /** Of the tenants of these rows, those whose server is away, or does not show yet what was committed with the rows. */
  async findAway(rows: readonly OfTenant[]): Promise<ReadonlySet<string>> {
    if (!this.areSeveral || rows.length === 0) return NO_TENANTS;
    const { database, onAway } = this.#options;
    const { serverOf, away } = await findServersThere(
      database,
      rows.map(({ tenantId }) => tenantId),
    );
    for (const server of away.values()) onAway(server);
    return new Set([...serverOf].filter(([, server]) => away.has(server)).map(([tenantId]) => tenantId));
  }

  /** Those that may wait for each other. */
  async group<Row extends OfTenant>(rows: readonly Row[]): Promise<readonly (readonly Row[])[]> {
    const { serverOf } = this.#options.database;
    const names = await Promise.all(rows.map(({ tenantId }) => serverOf(tenantId)));
    return [...Map.groupBy(rows.keys(), (index) => names[index]).values()].map((indices) =>
      indices.map((index) => rows[index] as Row),
    );
  }

  /** Whether that is why this failed for these. */
  async isAwayFor(error: unknown, rows: readonly OfTenant[]): Promise<boolean> {
    const { database } = this.#options;
    if (!this.areSeveral || !(error instanceof Error) || !isServerMissing(database, error)) return false;
    return (await this.findAway(rows)).size > 0;
  }
}
