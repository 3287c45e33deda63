import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnPostgres } from './own-postgres.ts';
import type { ServiceProcess } from './service-process.ts';
import type { VanishingServer } from './vanishing-servers.ts';
import type { Wire } from './wire.ts';

/** What is there to be hurt. */
export interface Surroundings {
  /** Each process with the wire to its database. */
  processes: readonly { service: ServiceProcess; wire: Wire }[];
  /** Null where the database is one that others use, too. */
  postgres: OwnPostgres | null;
  receiver: VanishingServer;
  mail: VanishingServer;
  random: () => number;
  /** How long something lasts: longer than a lease in the long form. */
  lastsMsMax: number;
}

/** Something goes wrong, and is over when this returns. */
export type Disturbance = (surroundings: Surroundings) => Promise<void>;

/** Longer than a lease. What a process plans while its clock is ahead comes as much too late, so it is no hour. */
const JUMP_MS = 20_000;
const SLOW_MS_MAX = 300;

function one({ processes, random }: Surroundings) {
  const chosen = processes[Math.floor(random() * processes.length)];
  if (!chosen) throw new Error('there is no process');
  return chosen;
}

const aWhile = ({ random, lastsMsMax }: Surroundings) => sleep(200 + random() * lastsMsMax);

async function vanishing(server: VanishingServer, surroundings: Surroundings): Promise<void> {
  await server.vanish();
  await aWhile(surroundings);
  await server.comeBack();
}

export const DISTURBANCES = {
  async 'a process is killed'(surroundings) {
    const { service } = one(surroundings);
    await service.kill();
    await service.start();
  },
  async 'a process stands still and goes on'(surroundings) {
    const { service } = one(surroundings);
    service.freeze();
    await aWhile(surroundings);
    service.thaw();
  },
  async 'connections to the database are cut'(surroundings) {
    one(surroundings).wire.cut();
  },
  async 'the database is out of reach'(surroundings) {
    const { wire } = one(surroundings);
    wire.isOpen = false;
    wire.cut();
    await aWhile(surroundings);
    wire.isOpen = true;
  },
  async 'the database is slow to reach'(surroundings) {
    const { wire } = one(surroundings);
    wire.delayMs = 10 + surroundings.random() * SLOW_MS_MAX;
    await aWhile(surroundings);
    wire.delayMs = 0;
  },
  async 'a clock jumps ahead and back'(surroundings) {
    const { service } = one(surroundings);
    service.setClock(JUMP_MS);
    await aWhile(surroundings);
    service.setClock(0);
  },
  async 'a clock goes back and is set right'(surroundings) {
    const { service } = one(surroundings);
    service.setClock(-JUMP_MS);
    await aWhile(surroundings);
    service.setClock(0);
  },
  'the receiver of webhooks vanishes': (surroundings) => vanishing(surroundings.receiver, surroundings),
  'the mail server vanishes': (surroundings) => vanishing(surroundings.mail, surroundings),
  async 'the database crashes and comes back'(surroundings) {
    await surroundings.postgres?.crash();
    await sleep(500);
    await surroundings.postgres?.comeBack();
  },
  async 'the disk of the database is full'(surroundings) {
    const { postgres } = surroundings;
    await postgres?.disk?.fill();
    await aWhile(surroundings);
    await postgres?.disk?.empty();
    // A server that could not go on stops, and whoever looks after it starts it again.
    await postgres?.comeBack();
  },
} satisfies Record<string, Disturbance>;

export type DisturbanceName = keyof typeof DISTURBANCES;

/** What can be done here: an own database is there in the long form alone, and a small disk not everywhere. */
export function possibleIn({ postgres }: Pick<Surroundings, 'postgres'>): DisturbanceName[] {
  const names = Object.keys(DISTURBANCES) as DisturbanceName[];
  return names.filter((name) => {
    if (name === 'the database crashes and comes back') return postgres !== null;
    if (name === 'the disk of the database is full') return Boolean(postgres?.disk);
    return true;
  });
}
