import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { startWire, type Wire } from '../faults/wire.ts';

/*
 * A database on the cluster whose coordinator reaches each other server by a wire, so that a test may take one away for that database
 * alone, while the cluster stands.
 */

export interface WiredServer {
  /** As `serverOf` of the database names it. */
  readonly name: string;
  /** It refuses every connection. */
  stop(): void;
  /** It says nothing more and refuses nothing, as one that stands still. */
  freeze(): void;
  comeBack(): void;
}

export interface Wires {
  readonly servers: readonly WiredServer[];
  stop(): Promise<void>;
}

/** From now on the coordinator reaches the other servers by wires, for what is in this database. */
export async function wireServers(database: Database): Promise<Wires> {
  const wires: Wire[] = [];
  const servers: WiredServer[] = [];
  for (const { id, name, host, port } of await readWorkers(database)) {
    const { wire, server } = await wireTo({ name, host, port });
    wires.push(wire);
    servers.push(server);
    // On the coordinator alone: the others reach each other as ever.
    await database.query('update pg_dist_node set nodename = $2, nodeport = $3 where nodeid = $1', [
      ...[id, '127.0.0.1', wire.port],
    ]);
  }
  return {
    servers,
    async stop() {
      await Promise.all(wires.map((wire) => wire.stop()));
    },
  };
}

export interface WiredDatabase extends TestDatabase {
  readonly servers: readonly WiredServer[];
}

type Wanted = Parameters<typeof createTestDatabase>;

export async function createWiredDatabase(migrations: Wanted[0], tables: Wanted[1]): Promise<WiredDatabase> {
  const made = await createTestDatabase(migrations, tables);
  const { servers, stop } = await wireServers(made.database);
  return {
    ...made,
    servers,
    async drop() {
      await made.drop();
      await stop();
    },
  };
}

interface Worker {
  id: number;
  name: string;
  host: string;
  port: number;
}

async function readWorkers(database: Database): Promise<Worker[]> {
  const { rows } = await database.query<Worker>(
    `select nodeid as id, groupid::text as name, nodename as host, nodeport as port
     from pg_dist_node where noderole = 'primary' and groupid <> 0 order by groupid`,
  );
  return rows;
}

async function wireTo({ name, host, port }: Omit<Worker, 'id'>) {
  let isFrozen = false;
  const lets = () => !isFrozen;
  const wire = await startWire({
    to: () => ({ host, port }),
    inspect: () => ({ letsToServer: lets, letsToClient: lets }),
  });
  const server: WiredServer = {
    name,
    stop() {
      wire.isOpen = false;
      wire.cut();
    },
    freeze() {
      isFrozen = true;
    },
    comeBack() {
      // What was said meanwhile is lost, so whoever waits for an answer to it is told.
      if (isFrozen) wire.cut();
      isFrozen = false;
      wire.isOpen = true;
    },
  };
  return { wire, server };
}

/** A tenant whose rows lie on that server. */
export async function tenantOn(database: Database, server: WiredServer): Promise<string> {
  for (let number = 0; number < TENANTS_TRIED_MAX; number += 1) {
    const tenantId = `org_${number}.test`;
    if ((await database.serverOf(tenantId)) === server.name) return tenantId;
  }
  throw new Error(`no tenant has its rows on server ${server.name}`);
}

const TENANTS_TRIED_MAX = 1_000;
