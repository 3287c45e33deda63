import { createTestDatabase } from '@libs/db/testing';
import { createEgressPolicy, createPoster } from '@libs/egress';
import { createShop, MIGRATIONS, type Shop, type ShopOptions, TABLES } from './service.ts';

/** A shop in a database of its own. */
export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const test = await createTestDatabase(MIGRATIONS);
  await test.database.query(TABLES);
  const poster = createPoster(createEgressPolicy({ development: true }));
  return {
    ...createShop(test.database, poster, options),
    async close() {
      await poster.destroy();
      await test.drop();
    },
  };
}
