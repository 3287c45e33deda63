import {
  type DueDelivery,
  type EndpointRef,
  type EndpointTarget,
  type EventBody,
  type EventRef,
  eventKey,
  laneKey,
} from './delivery.ts';

/** How a service gives the sender what belongs to a delivery; each is asked once for a whole batch. */
export interface DeliveryLoaders {
  /** Endpoints that are missing in the answer are gone or switched off: their deliveries are abandoned. */
  readonly loadEndpoints: (refs: readonly EndpointRef[]) => Promise<readonly EndpointTarget[]>;
  /** Events that are missing in the answer are no more: their deliveries are abandoned. */
  readonly loadEvents: (refs: readonly EventRef[]) => Promise<readonly EventBody[]>;
}

export interface ReadyDelivery {
  readonly row: DueDelivery;
  readonly target: EndpointTarget;
  readonly body: string;
}

export interface LoadedDeliveries {
  readonly ready: readonly ReadyDelivery[];
  /** Their endpoint or event is no more. */
  readonly orphaned: readonly DueDelivery[];
}

function uniqueBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

/** Reads endpoints, and the bodies of events that are not at hand already. */
export async function loadDeliveries(
  rows: readonly DueDelivery[],
  loaders: DeliveryLoaders,
  bodiesAtHand?: ReadonlyMap<string, string>,
): Promise<LoadedDeliveries> {
  const [endpoints, bodies] = await Promise.all([
    loaders.loadEndpoints(uniqueBy(rows, laneKey)),
    bodiesAtHand ?? loadBodies(rows, loaders),
  ]);
  const targets = new Map(endpoints.map((target) => [laneKey(target), target]));
  const ready: ReadyDelivery[] = [];
  const orphaned: DueDelivery[] = [];
  for (const row of rows) {
    const target = targets.get(laneKey(row));
    const body = bodies.get(eventKey(row));
    if (target === undefined || body === undefined) orphaned.push(row);
    else ready.push({ row, target, body });
  }
  return { ready, orphaned };
}

async function loadBodies(
  rows: readonly DueDelivery[],
  loaders: DeliveryLoaders,
): Promise<Map<string, string>> {
  const events = await loaders.loadEvents(uniqueBy(rows, eventKey));
  return new Map(events.map((event) => [eventKey(event), event.body]));
}
