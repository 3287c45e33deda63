import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { MESSAGE_CHARACTERS_MAX } from '../../iso20022/xml.ts';
import { receivedText } from '../work/jobs.ts';
import type { Delivery, RtpTransport } from './transport.ts';

/*
 * The bank's gateway: a message is one POST over TLS with our certificate. 200 carries the answer as its body, 202
 * says that the message was taken. Everything else leaves open whether the network has it, except that no connection
 * came about: then not one byte of the message has left. `node:https` tells those two apart by its socket's events,
 * which is why it and not a fetch is used here.
 */
const TIMEOUT_MS = 20_000;
/**
 * From the first packet until the handshake is over. All tries together end well before an answer would be asked after, which nobody
 * could take back, also where as many again wait for their turn.
 */
const CONNECT_TIMEOUT_MS = 3_000;
const IN_FLIGHT_MAX = 32;
/** Shorter than gateways keep idle connections, so that we do not write to one that is just being closed. */
const IDLE_MS = 4_000;
const CONNECT_TRIES_MAX = 3;
const CONNECT_RETRY_MS = 500;
const ANSWER_BYTES_MAX = 4 * MESSAGE_CHARACTERS_MAX;
/** After this it is known that nothing has left, where no connection comes about. */
export const NEVER_LEFT_AFTER_MS = CONNECT_TRIES_MAX * (CONNECT_TIMEOUT_MS + CONNECT_RETRY_MS);

export interface GatewayDependencies {
  url: string;
  /** PEM files. Without an authority the system's are trusted; without a certificate the gateway will refuse us. */
  certificatePath?: string | undefined;
  keyPath?: string | undefined;
  authorityPath?: string | undefined;
  timeoutMs?: number;
  connectTimeoutMs?: number;
  inFlightMax?: number;
  connectRetryMs?: number;
}

export interface RtpGateway extends RtpTransport {
  close(): void;
}

export async function createRtpGateway(options: GatewayDependencies): Promise<RtpGateway> {
  const read = async (path: string | undefined) => (path === undefined ? undefined : readFile(path));
  const [cert, key, ca] = await Promise.all([
    read(options.certificatePath),
    read(options.keyPath),
    read(options.authorityPath),
  ]);
  const inFlightMax = options.inFlightMax ?? IN_FLIGHT_MAX;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: inFlightMax,
    timeout: IDLE_MS,
    minVersion: 'TLSv1.2',
    ...(cert && { cert }),
    ...(key && { key }),
    ...(ca && { ca }),
  });
  const { timeoutMs = TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const { connectRetryMs = CONNECT_RETRY_MS } = options;
  const url = new URL(options.url);

  /** A connection that does not come about is tried again shortly: a gateway may be restarting. */
  async function deliver(xml: string): Promise<Delivery> {
    for (let tries = 1; ; tries += 1) {
      const delivery = await post({ url, agent, timeoutMs, connectTimeoutMs, body: Buffer.from(xml) });
      if (delivery.kind !== 'never_left' || tries >= CONNECT_TRIES_MAX) return delivery;
      await wait(connectRetryMs);
    }
  }

  return {
    inFlightMax,
    answerJobs: [],
    send: (messages) => Promise.all(messages.map(({ xml }) => deliver(xml))),
    close: () => agent.destroy(),
  };
}

interface Post {
  url: URL;
  agent: Agent;
  timeoutMs: number;
  connectTimeoutMs: number;
  body: Buffer;
}

function post({ url, agent, timeoutMs, connectTimeoutMs, body }: Post): Promise<Delivery> {
  const { promise, resolve } = Promise.withResolvers<Delivery>();
  const headers = {
    'content-type': 'application/xml; charset=utf-8',
    'content-length': body.length,
    accept: 'application/xml',
  };
  const options: RequestOptions = { agent, method: 'POST', headers };
  const sending = request(url, options);
  let hasLeft = false;
  const fail = (error: Error & { code?: string }) => {
    const reason = error.code ?? error.message;
    resolve(hasLeft ? { kind: 'unknown', reason } : { kind: 'never_left', reason });
  };
  const giveUp = (why: string) => sending.destroy(Object.assign(new Error(why), { code: 'TIMEOUT' }));
  const deadline = setTimeout(() => giveUp('no answer in time'), timeoutMs);
  let connecting: NodeJS.Timeout | undefined;
  sending.once('socket', (socket) => {
    // Only a connection that is being made holds the message back, until the handshake is over. Waiting for others is no fault of it.
    if (!socket.connecting) hasLeft = true;
    else
      connecting = setTimeout(() => {
        if (!hasLeft) giveUp('no connection in time');
      }, connectTimeoutMs);
    socket.once('secureConnect', () => {
      hasLeft = true;
    });
  });
  sending.once('error', fail);
  sending.once('response', (response) => {
    hasLeft = true;
    readAnswer(response).then(resolve, fail);
  });
  sending.end(body);
  return promise.finally(() => {
    clearTimeout(deadline);
    clearTimeout(connecting);
  });
}

async function readAnswer(response: IncomingMessage): Promise<Delivery> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > ANSWER_BYTES_MAX) return { kind: 'unknown', reason: 'the answer is too large' };
    parts.push(part);
  }
  const { statusCode } = response;
  if (statusCode !== 200 && statusCode !== 202) {
    return { kind: 'unknown', reason: `the gateway answered ${statusCode}` };
  }
  const answer = statusCode === 200 && size > 0 ? [receivedText(Buffer.concat(parts))] : [];
  return { kind: 'delivered', answers: answer };
}
