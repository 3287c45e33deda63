import type { IncomingHttpHeaders } from 'node:http';
import type { EventType } from '../../events/event.ts';

/** One message that a vendor reports, and the accounts at that vendor that may see it. */
export interface AppMessage {
  /** For each account, as the platform's connector names it when it is connected. */
  accounts: readonly string[];
  /** Names the message among those of its accounts: a repeat has the same key. */
  key: string;
  /** When it happened, by the vendor's clock. */
  at: Date;
  channel: string;
  /** The vendor's own object. */
  message: Record<string, unknown>;
  /** What the event says. */
  data: Record<string, unknown>;
}

/** What to do with a delivery that is signed: answer it and forget it, or keep it and answer. */
export type Receipt =
  | { kind: 'answered'; body: unknown }
  | { kind: 'kept'; deliveryId: string; body: unknown };

/** An app that a vendor sends events to, for all of its accounts at once. */
export interface InboundApp {
  readonly platform: string;
  readonly title: string;
  readonly event: EventType;
  /** False while the operator has not set up its secret. */
  readonly isConfigured: boolean;
  /** What a request without a valid one is told. */
  readonly scheme: string;
  /** The signature of exactly these bytes; null where it is none. */
  signatureOf(headers: IncomingHttpHeaders, body: Buffer, now: Date): string | null;
  /** Throws PayloadError for what is no delivery. */
  receive(payload: unknown, body: Buffer): Receipt;
  /** Throws PayloadError where something is missing; parts of other kinds give nothing. */
  read(payload: unknown, receivedAt: Date): AppMessage[];
}
