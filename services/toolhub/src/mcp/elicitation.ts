import type { ToolResult } from '../calls/result.ts';
import { type CalledTool, isObject, type JsonObject } from './message.ts';

/*
 * A client of the newest revision that can open addresses for its user is asked to (URL elicitation, by
 * `input_required`), instead of leaving it to the model to pass the address on. It makes the same call again when its
 * user has been there; the state that it echoes is the id of what was allowed, which is checked like any other.
 */

/** Asks the client to open the page on which a person decides. */
export interface AddressRequest extends JsonObject {
  resultType: 'input_required';
  inputRequests: Record<string, { method: 'elicitation/create'; params: JsonObject }>;
  requestState: string;
}

const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const APPROVAL_ID = /^apr_[0-9a-z]{26}$/;

/** Null where the call does not wait, the client opens no addresses, or its user has been asked already. */
export function addressRequest(message: JsonObject, result: ToolResult): AddressRequest | null {
  if (result.isError !== true) return null;
  const { error } = result.structuredContent;
  if (!isObject(error) || error.code !== 'approval_required' || !opensAddresses(message)) return null;
  return {
    resultType: 'input_required',
    inputRequests: {
      approval: {
        method: 'elicitation/create',
        params: {
          mode: 'url',
          url: error.approval_url,
          message: 'This call waits for you: look at what would be sent, and allow or deny it.',
        },
      },
    },
    requestState: String(error.approval_id),
  };
}

function opensAddresses({ params }: JsonObject): boolean {
  if (!isObject(params) || params.inputResponses !== undefined || !isObject(params._meta)) return false;
  const capabilities = params._meta[CAPABILITIES_KEY];
  return (
    isObject(capabilities) && isObject(capabilities.elicitation) && isObject(capabilities.elicitation.url)
  );
}

/** The call as it is meant when the client comes back from there. */
export function afterAddress({ params }: JsonObject, called: CalledTool): CalledTool {
  if (!isObject(params) || params.inputResponses === undefined) return called;
  const { requestState } = params;
  if (typeof requestState !== 'string' || !APPROVAL_ID.test(requestState)) return called;
  return { ...called, args: { approval_id: requestState, ...called.args } };
}
