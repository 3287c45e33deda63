import { createRequire } from 'node:module';
import type { Pool as UndiciPool } from 'undici';

/** The client in the version that deliveries use, which need not be the one that lies at the root. */
const deliveries = new URL('../../libs/egress/src/index.ts', import.meta.url);
export const { Pool } = createRequire(deliveries)('undici') as { Pool: typeof UndiciPool };
