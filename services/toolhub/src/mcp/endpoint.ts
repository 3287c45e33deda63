import type { OutgoingHttpHeaders } from 'node:http';
import { LARGE_JSON_BYTES } from '@libs/http';
import type { Outage } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallRequest, CallSession } from '../calls/call.ts';
import { untilHangUp } from '../calls/hang-up.ts';
import type { ToolList, View } from '../tools/lists.ts';
import type { McpAccess } from './access.ts';
import { cancellationKey } from './cancellations.ts';
import { addressRequest, afterAddress } from './elicitation.ts';
import { createFastAnswers, createFastReader, type FastRequest, type ListBody } from './fast-path.ts';
import { createListChanges } from './list-changes.ts';
import {
  type CalledTool,
  calledTool,
  errorBody,
  idOf,
  isObject,
  type JsonObject,
  meantCall,
  readBody,
  readLargeBody,
  withinArguments,
} from './message.ts';
import type { ServerInfo } from './protocol.ts';
import type { RequestLimit } from './request-limit.ts';
import { createSdkPath, type ServerExtension } from './sdk-path.ts';
import type { McpService, ViewQuery } from './service.ts';
import { createStreamWatch } from './stream-watch.ts';

export interface EndpointDependencies {
  mcp: McpService;
  access: McpAccess;
  requestLimit: RequestLimit;
  serverInfo: ServerInfo;
  /** Aborted when the server drains: streams that never end by themselves end then. */
  drainSignal: AbortSignal;
  extension?: ServerExtension;
  onError: (error: unknown) => void;
  /** Lasts while it cannot be found out whether open streams may go on. */
  streamsUnchecked: Outage;
}

/** Who asks, found out before the body is read. */
export interface Entry {
  session: CallSession;
  view: View;
}

export type Answer = { kind: 'body'; status: number; body: string } | { kind: 'sent' };

/** One POST to `/mcp`, from its headers to its answer. */
export interface Endpoint {
  /** Throws before the body is read: for strangers, and for customers who send more than anybody can use. */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<Entry>;
  answer(entry: Entry, request: FastifyRequest, reply: FastifyReply): Promise<Answer>;
  close(): Promise<void>;
}

export function createEndpoint(deps: EndpointDependencies): Endpoint {
  const { mcp, access, extension } = deps;
  const { callTool, cancellations } = mcp;
  const readFast = createFastReader();
  const fastAnswers = createFastAnswers(deps.serverInfo);
  const listChanges = createListChanges(deps.onError);
  const watchStream = createStreamWatch({ outage: deps.streamsUnchecked });
  mcp.onListChanged(listChanges.tell);
  const sdk = createSdkPath({ ...deps, callTool, bus: listChanges.bus });

  async function enter(request: FastifyRequest, reply: FastifyReply): Promise<Entry> {
    access.checkPlace(request);
    const caller = access.identify(request);
    // Nearly every token is known, and to await what is there would put this call behind all that came after it.
    const session = caller instanceof Promise ? await caller : caller;
    if (session.kind === 'customer') await deps.requestLimit.enforce(session.customerId, request, reply);
    return { session, view: mcp.readView(request.query as ViewQuery) };
  }

  async function answer(entry: Entry, request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
    const read = body.length > LARGE_JSON_BYTES ? await readLargeBody(body) : readBody(body);
    if (read.kind === 'refused')
      return { kind: 'body', status: 400, body: errorBody(null, read.code, read.detail) };
    const { message } = read;
    const list = await mcp.listFor(entry.session, entry.view);
    const visit: Visit = { entry, request, reply, message, list, badText: read.badText };
    const fast = readFast(message, request.headers);
    if (fast?.call === null && extension === undefined) return sendParts(reply, fastAnswers.list(fast, list));
    if (fast !== undefined && fast.call !== null && list.has(fast.call.name))
      return callFast(visit, fast, meantCall(fast.call, list.reaches));
    return passToSdk(visit);
  }

  async function callFast(visit: Visit, fast: FastRequest, called: CalledTool): Promise<Answer> {
    return tracked(visit, fast.era, async (signal) => {
      const call = toCall(visit, called, signal);
      const admission = await callTool.admitCall(call);
      switch (admission.kind) {
        case 'insufficient_scope':
          throw access.insufficientScope(admission.scope);
        case 'unknown_tool':
          return passToSdk(visit);
        case 'refused':
          return { kind: 'body', status: 200, body: fastAnswers.call(fast, admission.result) };
        case 'admitted': {
          const result = await callTool.runCall(call, admission.tool);
          const asked = fast.era === 'modern' ? addressRequest(visit.message, result) : null;
          const answer = asked === null ? fastAnswers.call(fast, result) : fastAnswers.ask(fast, asked);
          return { kind: 'body', status: 200, body: answer };
        }
      }
    });
  }

  /** Aborts the call when the client goes away, or cancels it in a request of its own. */
  async function tracked<T>(
    visit: Visit,
    era: FastRequest['era'],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return untilHangUp(visit.reply.raw, async (controller) => {
      // The newest revision knows no such request: there, going away is the only way to cancel.
      const id = era === 'legacy' ? idOf(visit.message) : null;
      const untrack = id === null ? undefined : cancellations.track(keyOf(visit, id), controller);
      try {
        return await work(controller.signal);
      } finally {
        untrack?.();
      }
    });
  }

  async function passToSdk(visit: Visit): Promise<Answer> {
    const { message } = visit;
    const named = calledTool(message);
    if (named === undefined) {
      await cancelIfAsked(visit);
      return serve(visit, { call: undefined, admission: undefined, message, list: visit.list });
    }
    const meant = visit.list.has(named.name) ? meantCall(named, visit.list.reaches) : named;
    const called = afterAddress(message, meant);
    return tracked(visit, 'legacy', async (signal) => {
      const call = toCall(visit, called, signal);
      const admission = await callTool.admitCall(call);
      if (admission.kind === 'insufficient_scope') throw access.insufficientScope(admission.scope);
      return serve(visit, { call, admission, message, list: visit.list });
    });
  }

  async function serve(visit: Visit, exchange: Parameters<typeof sdk.serve>[0]): Promise<Answer> {
    const { request, reply, message } = visit;
    const isStream = message.method === 'subscriptions/listen';
    if (isStream && listChanges.isFull(ownerOf(visit)))
      return { kind: 'body', status: 200, body: errorBody(idOf(message), INTERNAL_ERROR, TOO_MANY_STREAMS) };
    takeOver(reply);
    const endNow = () => reply.raw.destroy();
    if (isStream) deps.drainSignal.addEventListener('abort', endNow);
    const stopWatching = isStream
      ? watchStream({ check: () => access.identify(request), end: endNow })
      : undefined;
    try {
      await listChanges.openFor(ownerOf(visit), () =>
        sdk.serve(exchange, { request: request.raw, response: reply.raw, body: message }),
      );
    } finally {
      deps.drainSignal.removeEventListener('abort', endNow);
      stopWatching?.();
    }
    return { kind: 'sent' };
  }

  async function cancelIfAsked(visit: Visit): Promise<void> {
    const { method, params } = visit.message;
    if (method !== 'notifications/cancelled' || !isObject(params)) return;
    const { requestId: id } = params;
    if (typeof id === 'string' || typeof id === 'number') await cancellations.cancel(keyOf(visit, id));
  }

  return {
    enter,
    answer,
    close() {
      listChanges.close();
      return sdk.close();
    },
  };
}

/** From here on the answer is written to the socket itself, with the headers that every answer carries. */
function takeOver(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  reply.hijack();
}

/** Both parts of a body, without joining them first; all headers at once, since setting each costs as much as routing. */
function sendParts(reply: FastifyReply, { head, tail }: ListBody): Answer {
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  headers['content-type'] = 'application/json';
  headers['content-length'] = head.length + Buffer.byteLength(tail);
  reply.hijack();
  reply.raw.writeHead(200, headers);
  reply.raw.write(head);
  reply.raw.end(tail);
  return { kind: 'sent' };
}

interface Visit {
  entry: Entry;
  request: FastifyRequest;
  reply: FastifyReply;
  message: JsonObject;
  list: ToolList;
  badText: CallRequest['badText'];
}

function toCall(visit: Visit, called: CalledTool, signal: AbortSignal): CallRequest {
  const { entry, request, list, badText } = visit;
  return {
    session: entry.session,
    list,
    name: called.name,
    args: called.args,
    badText: called.inner === true ? withinArguments(badText) : badText,
    signal,
    progress: () => {},
    ip: request.ip,
    requestId: request.id,
  };
}

const INTERNAL_ERROR = -32603;
const TOO_MANY_STREAMS = 'Subscription limit reached: end another stream first.';

/** Whose list it is that changes. */
function ownerOf({ entry: { session } }: Visit): string {
  return session.kind === 'customer' ? session.customerId : 'internal';
}

function keyOf({ entry, request }: Visit, id: string | number): string {
  const { session } = entry;
  const principal = session.kind === 'customer' ? `${session.customerId} ${session.tokenId}` : session.name;
  return cancellationKey({ principal, ip: request.ip, userAgent: request.headers['user-agent'], id });
}
