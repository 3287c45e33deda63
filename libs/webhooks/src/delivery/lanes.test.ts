import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EndpointRef, laneKey } from './delivery.ts';
import type { FetchedDelivery } from './lane-store.ts';
import { type Lane, type LaneLimits, Lanes } from './lanes.ts';

const refOf = (name: string): EndpointRef => ({ tenantId: 'org', endpointId: name });

/** Stands for the table: rows per lane in order, from which written ones vanish. */
class Table {
  readonly queues = new Map<string, string[]>();
  #next = 0;

  add(name: string, count: number): void {
    const queue = this.queues.get(name) ?? [];
    for (let index = 0; index < count; index += 1) queue.push(String(this.#next++).padStart(8, '0'));
    this.queues.set(name, queue);
  }

  read(name: string, rowsMax: number, after: string | undefined): FetchedDelivery[] {
    const rows = (this.queues.get(name) ?? []).filter((id) => after === undefined || id > after);
    const shape = { eventId: 'evt', tries: 0, step: 0, early: false, at: 't' };
    return rows.slice(0, rowsMax).map((id) => ({ ...refOf(name), id, ...shape }));
  }

  remove(name: string, id: string): void {
    this.queues.set(
      name,
      (this.queues.get(name) ?? []).filter((other) => other !== id),
    );
  }
}

const lanesOf = (limits: LaneLimits) => new Lanes<FetchedDelivery>(limits, ({ id }) => id);

function readAll(lanes: Lanes<FetchedDelivery>, table: Table): void {
  for (;;) {
    const reads = lanes.chooseReads();
    if (reads.length === 0) return;
    for (const read of reads) {
      const rows = table.read(read.lane.endpointId, read.wish.rowsMax, read.wish.after?.id);
      for (const row of lanes.takeRead(read, rows)) lanes.add(read.lane, row);
    }
  }
}

type Sent = { lane: Lane<FetchedDelivery>; item: FetchedDelivery };

function sendAll(lanes: Lanes<FetchedDelivery>): Sent[] {
  const sent: Sent[] = [];
  for (let next = lanes.takeNext(); next !== undefined; next = lanes.takeNext()) sent.push(next);
  return sent;
}

describe('Lanes', () => {
  it('sends every row exactly once, whatever arrives and ends in which order', () => {
    const names = ['a', 'b', 'c'];
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom(...names), count: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ end: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const lanes = lanesOf({ perEndpoint: 20, total: 30 });
        const table = new Table();
        const seen = new Set<string>();
        let flying: Sent[] = [];
        let added = 0;
        const turn = () => {
          readAll(lanes, table);
          for (const sent of sendAll(lanes)) {
            expect(seen.has(sent.item.id)).toBe(false);
            seen.add(sent.item.id);
            flying.push(sent);
          }
          expect(flying.length).toBeLessThanOrEqual(30);
        };
        const end = ({ lane, item }: Sent) => {
          lanes.finish(lane, { wasSlow: false });
          table.remove(lane.endpointId, item.id);
          lanes.settle(lane, item.id);
        };
        for (const one of steps) {
          if ('add' in one) {
            table.add(one.add, one.count);
            added += one.count;
            lanes.wake(refOf(one.add));
          } else if (flying.length > 0) {
            end(...(flying.splice(one.end % flying.length, 1) as [Sent]));
          }
          turn();
        }
        for (let round = 0; round < 10_000 && flying.length > 0; round += 1) {
          end(flying[0] as Sent);
          flying = flying.slice(1);
          turn();
        }
        expect(seen.size).toBe(added);
      }),
      { numRuns: 200 },
    );
  });

  it('gives a lane with one row its turn beside a lane with ten thousand', () => {
    const lanes = lanesOf({ perEndpoint: 64, total: 64 });
    const table = new Table();
    table.add('long', 10_000);
    lanes.wake(refOf('long'));
    readAll(lanes, table);
    const first = sendAll(lanes);
    table.add('short', 1);
    lanes.wake(refOf('short'));
    readAll(lanes, table);
    const sent = sendAll(lanes);
    expect(first.length).toBeLessThan(64);
    expect(sent.map(({ item }) => item.endpointId)).toContain('short');
  });

  it('takes slow tries out of the count, so that hanging endpoints leave room', () => {
    const lanes = lanesOf({ perEndpoint: 8, total: 16 });
    const table = new Table();
    for (const name of ['x', 'y']) {
      table.add(name, 100);
      lanes.wake(refOf(name));
    }
    readAll(lanes, table);
    const hanging = sendAll(lanes);
    expect(hanging).toHaveLength(16);
    table.add('z', 5);
    lanes.wake(refOf('z'));
    readAll(lanes, table);
    expect(sendAll(lanes)).toEqual([]);
    for (const { lane } of hanging) lanes.noteSlow(lane);
    expect(sendAll(lanes).map(({ item }) => item.endpointId)).toEqual(Array(5).fill('z'));
    for (const { lane } of hanging.slice(0, 4)) lanes.finish(lane, { wasSlow: true });
    // Four of eight came back, and a slow lane keeps four at a time: it may not send more yet.
    expect(sendAll(lanes)).toEqual([]);
  });

  it('grows the window of a quick endpoint and shrinks that of a slow one', () => {
    const lanes = lanesOf({ perEndpoint: 32, total: 100 });
    const table = new Table();
    table.add('q', 1_000);
    lanes.wake(refOf('q'));
    const lane = lanes.lane(refOf('q'));
    for (let round = 0; round < 10; round += 1) {
      readAll(lanes, table);
      for (const sent of sendAll(lanes)) lanes.finish(sent.lane, { wasSlow: false });
    }
    expect(lane.window).toBe(32);
    readAll(lanes, table);
    const [one] = sendAll(lanes);
    lanes.noteSlow((one as Sent).lane);
    expect(lane.window).toBe(4);
  });

  it('finds rows that a late commit put before the place it has read up to', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    const table = new Table();
    table.add('a', 1);
    const [late] = table.queues.get('a') as [string];
    table.queues.set('a', []);
    table.add('a', 6);
    lanes.wake(refOf('a'));
    const seen: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      readAll(lanes, table);
      for (const { lane, item } of sendAll(lanes)) {
        seen.push(item.id);
        lanes.finish(lane, { wasSlow: false });
        table.remove('a', item.id);
        lanes.settle(lane, item.id);
      }
      if (round === 0) table.queues.get('a')?.unshift(late);
    }
    expect(seen).toHaveLength(7);
    expect(seen).toContain(late);
  });

  it('sends the rows of a lane in the order of its queue', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    const table = new Table();
    table.add('a', 12);
    const inOrder = [...(table.queues.get('a') ?? [])];
    lanes.wake(refOf('a'));
    const seen: string[] = [];
    while (seen.length < 12) {
      readAll(lanes, table);
      const [sent] = [lanes.takeNext()] as [Sent];
      seen.push(sent.item.id);
      lanes.finish(sent.lane, { wasSlow: false });
      table.remove('a', sent.item.id);
      lanes.settle(sent.lane, sent.item.id);
    }
    expect(seen).toEqual(inOrder);
  });

  it('sends no more to an endpoint that became slow than it may have under way', () => {
    const lanes = lanesOf({ perEndpoint: 8, total: 16 });
    const table = new Table();
    table.add('a', 8);
    lanes.wake(refOf('a'));
    readAll(lanes, table);
    for (let count = 0; count < 5; count += 1) lanes.takeNext();
    lanes.noteSlow(lanes.lane(refOf('a')));
    expect(lanes.takeNext()).toBeUndefined();
  });

  it('leaves in the queue what it had read ahead for an endpoint that became slow, and reads it again in its order', () => {
    const lanes = lanesOf({ perEndpoint: 32, total: 32 });
    const table = new Table();
    table.add('a', 1_000);
    const lane = lanes.lane(refOf('a'));
    lanes.wake(refOf('a'));
    for (let round = 0; round < 10; round += 1) {
      readAll(lanes, table);
      for (const { item, ...sent } of sendAll(lanes)) {
        lanes.finish(sent.lane, { wasSlow: false });
        table.remove('a', item.id);
        lanes.settle(item, item.id);
      }
    }
    readAll(lanes, table);
    const hanging = sendAll(lanes);
    expect([hanging.length, lanes.buffered > 100]).toEqual([32, true]);
    const [next] = lane.buffer as [FetchedDelivery];
    for (const sent of hanging) lanes.noteSlow(sent.lane);
    expect(lanes.buffered).toBe(0);
    readAll(lanes, table);
    expect(lanes.buffered, 'as long as many are under way').toBe(0);
    for (const { item, ...sent } of hanging) {
      lanes.finish(sent.lane, { wasSlow: true });
      table.remove('a', item.id);
      lanes.settle(item, item.id);
    }
    readAll(lanes, table);
    const sent = sendAll(lanes);
    expect([sent.length, lanes.buffered, sent[0]?.item.id]).toEqual([4, 0, next.id]);
  });

  it('reads a lane once more that was woken while it was read', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    lanes.wake(refOf('a'));
    const [read] = lanes.chooseReads() as [ReturnType<typeof lanes.chooseReads>[number]];
    lanes.wake(refOf('a'));
    lanes.takeRead(read, []);
    const [again] = lanes.chooseReads() as [typeof read];
    expect(again.lane.key).toBe(laneKey(refOf('a')));
    lanes.takeRead(again, []);
    expect(lanes.chooseReads()).toEqual([]);
  });

  it('sleeps again after it was awake, and knows when the database may hold later rows than those it knows', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    const lane = lanes.lane(refOf('a'));
    const mayHaveLaterAfter = (change: () => void): boolean => {
      lane.mayHaveLater = false;
      change();
      return lane.mayHaveLater;
    };
    expect(mayHaveLaterAfter(() => lanes.sleepUntil(refOf('a'), 100))).toBe(false);
    // The row it slept for may be later than this wake.
    expect(mayHaveLaterAfter(() => lanes.wake(refOf('a')))).toBe(true);
    expect(mayHaveLaterAfter(() => lanes.wake(refOf('a')))).toBe(false);
    expect(mayHaveLaterAfter(() => lanes.wake(refOf('a'), true))).toBe(true);
    expect(mayHaveLaterAfter(() => lanes.sleepUntil(refOf('a'), 200))).toBe(true);
    expect(mayHaveLaterAfter(() => lanes.own(lane))).toBe(true);
    readAll(lanes, new Table());
    lanes.sleepUntil(refOf('a'), 300);
    expect(lanes.wakeSleepers(299)).toBe(300);
  });

  it('wakes sleepers at their time and tells the next one', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    lanes.sleepUntil(refOf('a'), 100);
    lanes.sleepUntil(refOf('a'), 300);
    lanes.sleepUntil(refOf('b'), 200);
    expect(lanes.wakeSleepers(99)).toBe(100);
    expect(lanes.chooseReads()).toEqual([]);
    expect(lanes.wakeSleepers(100)).toBe(200);
    expect(lanes.chooseReads().map(({ lane }) => lane.endpointId)).toEqual(['a']);
    expect(lanes.wakeSleepers(200)).toBe(Number.POSITIVE_INFINITY);
  });

  it('takes an offer only where the lane is ours, free and read to its end', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    const table = new Table();
    expect(lanes.takeOffer(refOf('a'), 'x')).toBe('left');
    expect(lanes.chooseReads().map(({ lane }) => lane.endpointId)).toEqual(['a']);
    lanes.own(lanes.lane(refOf('a')));
    expect(lanes.takeOffer(refOf('a'), 'x')).toBe('left');
    readAll(lanes, table);
    expect(lanes.takeOffer(refOf('a'), 'x')).toBe('taken');
    expect(lanes.takeOffer(refOf('a'), 'x')).toBe('left');
    lanes.settle(refOf('a'), 'x');
    expect(lanes.takeOffer(refOf('a'), 'x')).toBe('left');
    for (const id of ['1', '2', '3', '4']) {
      const row = { ...refOf('a'), id, eventId: 'evt', tries: 0, step: 0, early: false, at: 't' };
      expect(lanes.takeOffer(row, id)).toBe('taken');
      lanes.add(lanes.lane(row), row);
    }
    expect(lanes.takeOffer(refOf('a'), '5')).toBe('left');
    lanes.takeOffer(refOf('b'), 'y');
    expect(lanes.leaveToOther(lanes.lane(refOf('b')))).toBe(true);
    expect(lanes.takeOffer(refOf('b'), 'z')).toBe('foreign');
  });

  it('counts slow tries again beyond many times the total, and lets go of each that ends', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 1 });
    const table = new Table();
    for (let index = 0; index < 12; index += 1) {
      table.add(`lane ${index}`, 1);
      lanes.wake(refOf(`lane ${index}`));
    }
    const hanging: Sent[] = [];
    const sendSlowly = () => {
      readAll(lanes, table);
      for (const sent of sendAll(lanes)) {
        lanes.noteSlow(sent.lane);
        hanging.push(sent);
      }
      return hanging.length;
    };
    for (let round = 0; round < 12; round += 1) sendSlowly();
    expect(hanging).toHaveLength(9);
    lanes.finish((hanging[0] as Sent).lane, { wasSlow: true });
    expect(sendSlowly()).toBe(10);
  });

  it('remembers a row that was settled through thousands that were settled after it', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    lanes.own(lanes.lane(refOf('a')));
    lanes.settle(refOf('a'), 'sent');
    for (let index = 0; index < 5_000; index += 1) lanes.settle(refOf('a'), `other ${index}`);
    expect(lanes.takeOffer(refOf('a'), 'sent')).toBe('left');
    expect(lanes.takeOffer(refOf('a'), 'new')).toBe('taken');
  });

  it('tells the owner of a lane once of what was committed here, and nobody when the lane is ours', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    lanes.takeOffer(refOf('a'), 'x');
    expect(lanes.leaveToOther(lanes.lane(refOf('a')))).toBe(true);
    expect(lanes.leaveToOther(lanes.lane(refOf('a')))).toBe(false);
    lanes.takeOffer(refOf('b'), 'x');
    lanes.own(lanes.lane(refOf('b')));
    expect(lanes.leaveToOther(lanes.lane(refOf('b')))).toBe(false);
  });

  it('ignores lanes of others until it looks again', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    lanes.wake(refOf('a'));
    lanes.leaveToOther(lanes.lane(refOf('a')));
    lanes.wake(refOf('a'));
    expect(lanes.chooseReads()).toEqual([]);
    lanes.reconsiderForeign();
    lanes.wake(refOf('a'));
    expect(lanes.chooseReads()).toHaveLength(1);
  });

  it('forgets what waits in memory when its name is lost, and reads it again in its order, but nothing that is under way', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    const table = new Table();
    table.add('a', 6);
    const [underWay, ...others] = table.queues.get('a') as [string, ...string[]];
    const lane = lanes.lane(refOf('a'));
    lanes.own(lane);
    lanes.wake(refOf('a'));
    readAll(lanes, table);
    expect(lanes.takeNext()?.item.id).toBe(underWay);
    lanes.disownAll();
    expect([lane.isOwned, lanes.buffered, lanes.takeNext()]).toEqual([false, 0, undefined]);
    lanes.wake(refOf('a'));
    readAll(lanes, table);
    expect(sendAll(lanes).map(({ item }) => item.id)).toEqual(others.slice(0, 3));
  });

  it('holds no more rows in memory than a few times what may be under way, however many lanes have some', () => {
    const lanes = lanesOf({ perEndpoint: 8, total: 2 });
    const table = new Table();
    for (let index = 0; index < 20; index += 1) {
      table.add(`lane ${index}`, 8);
      lanes.wake(refOf(`lane ${index}`));
    }
    readAll(lanes, table);
    expect(lanes.buffered).toBe(16);
    // Who got none is the first when there is room again.
    for (const { lane } of sendAll(lanes)) lanes.finish(lane, { wasSlow: false });
    expect(lanes.chooseReads().map(({ lane }) => lane.endpointId)).toEqual(['lane 16', 'lane 17']);
  });

  it('calls a lane idle only after it has rested for a while', () => {
    const lanes = lanesOf({ perEndpoint: 4, total: 10 });
    const table = new Table();
    table.add('a', 1);
    lanes.wake(refOf('a'));
    lanes.lane(refOf('a')).isOwned = true;
    readAll(lanes, table);
    expect(lanes.findIdle(1_000, 900)).toEqual([]);
    const [sent] = sendAll(lanes) as [Sent];
    lanes.finish(sent.lane, { wasSlow: false });
    lanes.settle(sent.lane, sent.item.id);
    expect(lanes.findIdle(2_000, 1_900)).toEqual([]);
    // One that waits for its next row is none.
    lanes.sleepUntil(refOf('a'), 2_150);
    expect(lanes.findIdle(2_150, 2_100)).toEqual([]);
    lanes.wakeSleepers(2_150);
    readAll(lanes, new Table());
    expect(lanes.findIdle(2_160, 2_060)).toEqual([]);
    expect(lanes.findIdle(2_300, 2_200).map((lane) => lane.key)).toEqual([laneKey(refOf('a'))]);
    sent.lane.isOwned = false;
    expect(lanes.findIdle(2_400, 2_300)).toEqual([]);
    expect(lanes.size).toBe(0);
  });
});
