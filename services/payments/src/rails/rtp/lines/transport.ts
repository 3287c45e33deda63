import type { Queryable } from '@libs/db';

/** How messages reach a network: the sandbox's, or a bank's gateway. */
export interface RtpTransport {
  /** How many messages go out together; the state of the next ones is stored when these are gone. */
  readonly inFlightMax: number;
  /** The jobs through which an answer comes until it is read, in their order; while it waits there, nobody is silent. */
  readonly answerJobs: readonly string[];
  /** One delivery per message, in their order. It never throws for what the network does. */
  send(messages: readonly OutgoingMessage[]): Promise<readonly Delivery[]>;
  /**
   * Where the network lies in our own database: takes messages in the transaction that submits them. What commits has
   * arrived and what does not was never sent, so nothing has to be noted in between.
   */
  readonly takeWithin?: (tx: Queryable, messages: readonly OutgoingMessage[]) => Promise<void>;
}

export interface OutgoingMessage {
  xml: string;
  /** Whether the sender's organisation has set a sandbox clock: then nobody waits for the network. */
  clockIsSet: boolean;
}

export type Delivery =
  /** The network has it. It may have answered at once; answers are carried as they came. */
  | { kind: 'delivered'; answers: readonly string[] }
  /** It may have it. */
  | { kind: 'unknown'; reason: string }
  /** No byte of the message has left this house. */
  | { kind: 'never_left'; reason: string };
