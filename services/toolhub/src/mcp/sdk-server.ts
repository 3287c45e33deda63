import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { isObject } from './message.ts';

type Wrap = Server['_wrapHandler'];
type Handler = Parameters<Wrap>[1];

/** The SDK's server, which calls parameters that do not fit their method an error inside of us. */
export class SdkServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const handle = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await handle(request, context);
      } catch (error) {
        throw misfitOf(method, error) ?? error;
      }
    };
  }
}

/** The SDK tells of what does not fit by a bare error, whose message is the list of places as JSON. */
function misfitOf(method: string, error: unknown): ProtocolError | undefined {
  if (!(error instanceof Error) || error instanceof ProtocolError) return undefined;
  const places = placesIn(error.message);
  if (places === undefined) return undefined;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid ${method} request: ${places}`);
}

const PLACES_TOLD_MAX = 5;

function placesIn(message: string): string | undefined {
  return listIn(message)
    ?.filter(isObject)
    .slice(0, PLACES_TOLD_MAX)
    .map(({ path, message: fault }) => `${[path].flat().join('.')}: ${fault}`)
    .join('; ');
}

/** Undefined where it is another error's text. */
function listIn(message: string): unknown[] | undefined {
  if (!message.startsWith('[')) return undefined;
  try {
    const list: unknown = JSON.parse(message);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}
