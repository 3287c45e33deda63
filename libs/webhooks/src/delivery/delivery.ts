/** Both products' words; which of them mean "schedule used up" and "given up" is a parameter. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'abandoned' | 'dead';

/** One try, in the form in which both APIs show it. */
export interface Attempt {
  readonly at: string;
  /** The HTTP status, or null when none was received. */
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  /** How the answer to a try that failed begins, where it has a body. */
  readonly response?: string;
}

export interface EndpointRef {
  readonly tenantId: string;
  readonly endpointId: string;
}

export interface EventRef {
  readonly tenantId: string;
  readonly eventId: string;
}

export interface NewDelivery extends EndpointRef, EventRef {
  readonly eventType: string;
  /** Whose request the event follows from; where nothing is said, the one to which all of the work belongs. */
  readonly traceparent?: string | null;
}

/** Added to the queue; it may be sent as soon as its transaction has committed. */
export interface QueuedDelivery extends NewDelivery {
  readonly id: string;
}

export interface Delivery extends QueuedDelivery {
  readonly status: DeliveryStatus;
  readonly attempts: readonly Attempt[];
  readonly nextAttemptAt: Date | null;
  /** Where the last try went; null before the first. */
  readonly url: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly expiresAt: Date | null;
}

/** A row that is due, in a lane that this process owns. */
export interface DueDelivery extends EndpointRef, EventRef {
  readonly id: string;
  /** Tries so far; a result counts only while this is still so. */
  readonly tries: number;
  /** How many delays of the schedule are used. */
  readonly step: number;
  /** Whether the receiver has asked for an earlier try since the last step. */
  readonly early: boolean;
  /** Whose request the event follows from, where somebody said so. */
  readonly traceparent?: string | null;
}

export interface EndpointAddress extends EndpointRef {
  readonly url: string;
}

/** What a service knows of an endpoint that is there and switched on. */
export interface EndpointTarget extends EndpointAddress {
  /** All that are valid now, newest first: each signs. */
  readonly secrets: readonly string[];
}

export interface EventBody extends EventRef {
  readonly body: string;
}

export type DisableReason = 'gone' | 'failing';

/** How a try ended, as it is written down. */
export interface DeliveryResult extends EndpointRef, EventRef {
  readonly id: string;
  readonly kind: 'delivered' | 'retry' | 'exhausted' | 'abandoned' | 'gone';
  readonly status: DeliveryStatus;
  /** Null when nothing was sent, because endpoint or event are no more. */
  readonly attempt: Attempt | null;
  readonly url: string | null;
  readonly nextAttemptAt: Date | null;
  /** Tries before this one. */
  readonly tries: number;
  readonly step: number;
  readonly early: boolean;
  readonly finishedAt: Date | null;
  readonly expiresAt: Date | null;
  /** For one that is `gone`: what it is instead when the endpoint has another address by now. */
  readonly ifMoved?: DeliveryResult;
}

/** A NUL cannot occur in a text of Postgres, so no two pairs share a key. */
export function laneKey(ref: EndpointRef): string {
  return `${ref.tenantId}\0${ref.endpointId}`;
}

export function eventKey(ref: EventRef): string {
  return `${ref.tenantId}\0${ref.eventId}`;
}
