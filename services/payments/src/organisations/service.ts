import type { Database, Queryable } from '@libs/db';
import { errors } from '../errors.ts';
import type { LiveAccess } from '../keys/key.ts';
import type { KeyService } from '../keys/service.ts';
import type { Notices } from '../notices/service.ts';
import type { DescribedOrganisation } from './organisation.ts';
import {
  findOrganisation,
  listOrganisations,
  lockOrganisation,
  renameOrganisation,
  setLiveAccess,
} from './store.ts';

export interface OrganisationService {
  get(id: string): Promise<DescribedOrganisation>;
  rename(id: string, name: string): Promise<DescribedOrganisation>;
  /** Throws where it is approved already. Asking again replaces what was written before. */
  requestLiveAccess(tx: Queryable, id: string, request: string | null): Promise<DescribedOrganisation>;
  /** A refusal ends the live keys that there are. */
  decideLiveAccess(
    tx: Queryable,
    id: string,
    decision: { approved: boolean; reason: string | null },
  ): Promise<DescribedOrganisation>;
  list(query: {
    liveAccess: LiveAccess | null;
    before: string | null;
    limit: number;
  }): Promise<DescribedOrganisation[]>;
}

export interface OrganisationDependencies {
  database: Database;
  keys: Pick<KeyService, 'revokeAll'>;
  notices: Pick<Notices, 'plan'>;
  now: () => Date;
}

export function createOrganisationService({
  database,
  keys,
  notices,
  now,
}: OrganisationDependencies): OrganisationService {
  async function lock(tx: Queryable, id: string): Promise<DescribedOrganisation> {
    return (await lockOrganisation(tx, id)) ?? missing();
  }

  return {
    get: async (id) => (await findOrganisation(database, id)) ?? missing(),
    rename: async (id, name) => (await renameOrganisation(database, id, name.trim())) ?? missing(),

    async requestLiveAccess(tx, id, request) {
      const organisation = await lock(tx, id);
      if (organisation.liveAccess.status === 'approved') {
        throw errors.state_conflict({ detail: 'Live access is approved already.' });
      }
      const { reason } = organisation.liveAccess;
      const liveAccess = { status: 'requested', request, reason, updatedAt: now() } as const;
      await setLiveAccess(tx, id, liveAccess);
      return { ...organisation, liveAccess };
    },

    async decideLiveAccess(tx, id, { approved, reason }) {
      const organisation = await lock(tx, id);
      const { request } = organisation.liveAccess;
      const status: LiveAccess = approved ? 'approved' : 'refused';
      const liveAccess = { status, request, reason, updatedAt: now() };
      await setLiveAccess(tx, id, liveAccess);
      if (!approved) await keys.revokeAll(tx, id, ['live']);
      await notices.plan(
        tx,
        id,
        approved ? { kind: 'live_access_approved' } : { kind: 'live_access_refused', reason },
      );
      return { ...organisation, liveAccess };
    },

    list: (query) => listOrganisations(database, query),
  };
}

function missing(): never {
  throw errors.not_found({ detail: 'There is no such organisation.' });
}
