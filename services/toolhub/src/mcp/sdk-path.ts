import type { IncomingMessage, ServerResponse } from 'node:http';
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  type CallToolRequestParams,
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type ServerEventBus,
  type ServerOptions,
  type Tool,
} from '@modelcontextprotocol/server';
import type { CallRequest } from '../calls/call.ts';
import type { Admission, CallTool } from '../calls/call-tool.ts';
import { addressRequest } from './elicitation.ts';
import { isObject, type JsonObject } from './message.ts';
import { INSTRUCTIONS, LEGACY_VERSIONS, type ServerInfo } from './protocol.ts';
import { SdkServer } from './sdk-server.ts';

/** One request on its way through the SDK, with what was found out before. */
export interface Exchange {
  call: CallRequest | undefined;
  admission: Admission | undefined;
  /** As the client sent it. */
  message: JsonObject;
  list: CallRequest['list'];
}

/** What a profile has beside the tools of the catalogue; the conformance suite's fixtures come in this way. */
export interface ServerExtension {
  options: ServerOptions;
  tools: readonly Tool[];
  /** Called for the tools above only. */
  callTool(
    params: CallToolRequestParams,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** Called for each server, after its own handlers are in place. */
  extend(server: Server): void;
}

export interface SdkPathDependencies {
  serverInfo: ServerInfo;
  callTool: CallTool;
  /** Where open streams hear that a list changed. */
  bus: ServerEventBus;
  extension?: ServerExtension;
  onError: (error: unknown) => void;
}

export interface SdkPath {
  serve(
    exchange: Exchange,
    parts: { request: IncomingMessage; response: ServerResponse; body: JsonObject },
  ): Promise<void>;
  close(): Promise<void>;
}

const SUBSCRIPTIONS_MAX = 256;

/** The official SDK: both eras from one factory, a low-level server per request. */
export function createSdkPath(deps: SdkPathDependencies): SdkPath {
  const { serverInfo, extension, callTool } = deps;
  const options: ServerOptions = {
    instructions: INSTRUCTIONS,
    supportedProtocolVersions: [...LEGACY_VERSIONS],
    ...extension?.options,
    capabilities: { ...extension?.options.capabilities, tools: {} },
  };
  // Only the newest revision has a way for the server to tell that needs no session: `subscriptions/listen`.
  const modernOptions = {
    ...options,
    capabilities: { ...options.capabilities, tools: { listChanged: true } },
  };
  const extraTools = new Set(extension?.tools.map(({ name }) => name));

  function newServer(context: McpRequestContext): Server {
    const exchange = exchangeOf(context.authInfo);
    const server = new SdkServer(serverInfo, context.era === 'modern' ? modernOptions : options);
    server.setRequestHandler('tools/list', ({ params }) => {
      if (params?.cursor !== undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The list has one page: send no cursor.');
      return { tools: [...(exchange.list.tools as unknown as Tool[]), ...(extension?.tools ?? [])] };
    });
    server.setRequestHandler('tools/call', ({ params }, handlerContext) =>
      extension !== undefined && extraTools.has(params.name)
        ? extension.callTool(params, handlerContext)
        : runAdmitted(exchange, params.name, handlerContext),
    );
    extension?.extend(server);
    return server;
  }

  async function runAdmitted(
    exchange: Exchange,
    name: string,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { admission, call } = exchange;
    if (admission?.kind === 'refused') return admission.result;
    if (admission?.kind !== 'admitted' || call === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool ${name.slice(0, NAME_SHOWN_MAX)} here`,
      );
    const signal = AbortSignal.any([call.signal, context.mcpReq.signal]);
    try {
      const progress = progressOf(context, deps.onError);
      const result = await callTool.runCall({ ...call, signal, progress }, admission.tool);
      return (addressRequest(exchange.message, result) as InputRequiredResult | null) ?? result;
    } catch (error) {
      // The SDK would send the message of any error as it is, with whatever a driver wrote into it.
      deps.onError(error);
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        `Internal error, logged under ${call.requestId}`,
      );
    }
  }

  const handler = createMcpHandler(newServer, {
    legacy: 'stateless',
    maxSubscriptions: SUBSCRIPTIONS_MAX,
    bus: deps.bus,
  });

  return {
    async serve(exchange, { request, response, body }) {
      const authInfo: AuthInfo = { token: '', clientId: '', scopes: [], extra: { exchange } };
      const serveNode = toNodeHandler(
        { fetch: (webRequest, options) => handler.fetch(webRequest, { ...options, authInfo }) },
        { onerror: deps.onError },
      );
      await serveNode(request as unknown as NodeIncomingMessageLike, response, shownToSdk(exchange, body));
    },
    close: () => handler.close(),
  };
}

const NAME_SHOWN_MAX = 100;

/**
 * A call that was admitted runs with the arguments that were checked for it, so the SDK, which writes the message out and
 * reads it again, is spared them: they may be megabytes.
 */
function shownToSdk({ call, admission }: Exchange, message: JsonObject): JsonObject {
  const isDecided = admission?.kind === 'admitted' || admission?.kind === 'refused';
  if (call === undefined || !isDecided || !isObject(message.params)) return message;
  return { ...message, params: { ...message.params, arguments: {} } };
}

function exchangeOf(authInfo: AuthInfo | undefined): Exchange {
  const exchange = authInfo?.extra?.exchange as Exchange | undefined;
  if (exchange === undefined) throw new Error('a request came to the SDK without its exchange');
  return exchange;
}

/** Only steps forward are passed on: the protocol wants every number to be larger than the one before. */
function progressOf(context: ServerContext, onError: (error: unknown) => void): CallRequest['progress'] {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let last = Number.NEGATIVE_INFINITY;
  return (done, total, message) => {
    if (!(done > last)) return;
    last = done;
    const params = {
      progressToken,
      progress: done,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    context.mcpReq.notify({ method: 'notifications/progress', params }).catch(onError);
  };
}
