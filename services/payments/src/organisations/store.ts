import type { Queryable } from '@libs/db';
import type { LiveAccess } from '../keys/key.ts';
import type { DescribedOrganisation, LiveAccessState } from './organisation.ts';

interface OrganisationRow {
  id: string;
  name: string;
  created_at: Date;
  live_access: LiveAccess;
  live_access_request: string | null;
  live_access_reason: string | null;
  live_access_at: Date | null;
}

const COLUMNS = 'id, name, created_at, live_access, live_access_request, live_access_reason, live_access_at';

function fromRow(row: OrganisationRow): DescribedOrganisation {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    liveAccess: {
      status: row.live_access,
      request: row.live_access_request,
      reason: row.live_access_reason,
      updatedAt: row.live_access_at,
    },
  };
}

export async function findOrganisation(
  db: Queryable,
  id: string,
): Promise<DescribedOrganisation | undefined> {
  const { rows } = await db.query<OrganisationRow>(`select ${COLUMNS} from organisations where id = $1`, [
    id,
  ]);
  return rows[0] && fromRow(rows[0]);
}

export async function lockOrganisation(
  tx: Queryable,
  id: string,
): Promise<DescribedOrganisation | undefined> {
  const { rows } = await tx.query<OrganisationRow>(
    `select ${COLUMNS} from organisations where id = $1 for no key update`,
    [id],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function renameOrganisation(
  db: Queryable,
  id: string,
  name: string,
): Promise<DescribedOrganisation | undefined> {
  const { rows } = await db.query<OrganisationRow>(
    `update organisations set name = $2 where id = $1 returning ${COLUMNS}`,
    [id, name],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function setLiveAccess(tx: Queryable, id: string, state: LiveAccessState): Promise<void> {
  await tx.query(
    `update organisations set live_access = $2, live_access_request = $3, live_access_reason = $4,
       live_access_at = $5 where id = $1`,
    [id, state.status, state.request, state.reason, state.updatedAt],
  );
}

/** Newest first; `before` is the id of the last one that was shown. */
export async function listOrganisations(
  db: Queryable,
  query: { liveAccess: LiveAccess | null; before: string | null; limit: number },
): Promise<DescribedOrganisation[]> {
  const { rows } = await db.query<OrganisationRow>(
    `select ${COLUMNS} from organisations
     where ($1::text is null or live_access = $1) and ($2::text is null or id < $2) order by id desc limit $3`,
    [query.liveAccess, query.before, query.limit],
  );
  return rows.map(fromRow);
}
