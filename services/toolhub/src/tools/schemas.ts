import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '@libs/http';
import type { ToolDefinition } from '../connectors/connector.ts';
import { type JsonSchema, type ObjectSchema, takesIdempotencyKey } from './tool.ts';

const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
const CURSOR_LENGTH_MAX = 4_096;
const APPROVAL_ID_LENGTH_MAX = 64;

const limit: JsonSchema = {
  type: 'integer',
  minimum: 1,
  maximum: PAGE_LIMIT_MAX,
  default: PAGE_LIMIT_DEFAULT,
  description: 'How many items to return.',
};
const cursor: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: CURSOR_LENGTH_MAX,
  description: 'The next_cursor of the page before; absent for the first page.',
};
const idempotencyKey: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: IDEMPOTENCY_KEY_LENGTH_MAX,
  description:
    'Makes a repeat harmless: within 24 hours a call with the same key returns the first result and does nothing again.',
};

const approvalId: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: APPROVAL_ID_LENGTH_MAX,
  description:
    'Only after an answer with approval_required: its approval_id, together with the same arguments as before.',
};

/** Drops everything that JSON does not carry, so that what is listed is what arguments are checked against. */
function toWire(schema: object): ObjectSchema {
  const wire = JSON.parse(JSON.stringify(schema)) as ObjectSchema;
  return { ...wire, properties: wire.properties ?? {} };
}

/**
 * The original: the tool's own parameters, those that its class brings, and `account`, which chooses one of the
 * accounts that the operator configured.
 */
export function fullInputSchema(
  definition: Omit<ToolDefinition, 'run'>,
  accounts: readonly string[] | null,
): ObjectSchema {
  const own = toWire(definition.inputSchema);
  const properties: Record<string, JsonSchema> = { ...own.properties };
  const required = [...(own.required ?? [])];
  if (definition.list) Object.assign(properties, { limit: { ...limit }, cursor: { ...cursor } });
  if (takesIdempotencyKey(definition.class))
    Object.assign(properties, { idempotency_key: { ...idempotencyKey }, approval_id: { ...approvalId } });
  if (accounts !== null) {
    properties.account = accountSchema(accounts);
    if (accounts.length > 1) required.push('account');
  }
  for (const name of Object.keys(own.properties)) {
    if (properties[name] !== own.properties[name])
      throw new TypeError(`${definition.name} declares ${name}, which the framework adds`);
  }
  const { required: _ownRequired, ...rest } = own;
  return { ...rest, properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false };
}

function accountSchema(accounts: readonly string[]): JsonSchema {
  return {
    type: 'string',
    ...(accounts.length > 0 ? { enum: [...accounts] } : {}),
    description: 'The configured account to act as.',
  };
}

/** What a customer's session sees: a deep copy without `account`. The original stays as it was. */
export function withoutAccount(original: ObjectSchema): ObjectSchema {
  const copy = structuredClone(original);
  delete copy.properties.account;
  if (copy.required !== undefined) {
    copy.required = copy.required.filter((name) => name !== 'account');
    if (copy.required.length === 0) delete copy.required;
  }
  return copy;
}

const errorForm: JsonSchema = {
  type: 'object',
  description: 'Present instead of everything else when the call failed.',
  properties: { code: { type: 'string' }, message: { type: 'string' } },
  required: ['code', 'message'],
};

/**
 * Failed calls answer `{error}`. Clients of the first SDK generation check `structuredContent` against this schema
 * even then, and would throw the error away if it did not fit.
 */
export function withErrorForm(outputSchema: object): ObjectSchema {
  const { required = [], ...wire } = toWire(outputSchema);
  if ('error' in wire.properties || 'anyOf' in wire)
    throw new TypeError('an output schema leaves error and anyOf free');
  return {
    ...wire,
    properties: { ...wire.properties, error: structuredClone(errorForm) },
    anyOf: [{ required }, { required: ['error'] }],
  };
}
