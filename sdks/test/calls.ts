// One list of calls for both SDKs: every operation of the API at least once.
import { readFileSync } from 'node:fs';

export interface Call {
  operation: string;
  /** In camelCase; Python has the same in snake_case. */
  call: string;
  positional?: (string | number)[];
  fields?: Record<string, unknown>;
  /** Of the call itself, not of the request. */
  options?: Record<string, unknown>;
  /** Keeps the answer's id (of a list, the first item's), for `$name` in later calls. */
  saves?: string;
}

const file = new URL('./calls.json', import.meta.url);

export function readCalls(): Call[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Call[];
}

/** The operator's and the dashboard's own, which no customer's program calls. */
const NOT_FOR_SDKS = /^\/v1\/(admin|session|network)(\/|$)/;

/** What takes the session of a person alone is for the dashboard. */
function takesKeys({ security = [] }: Operation): boolean {
  return security.length === 0 || security.some((way) => 'apiKey' in way);
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  security?: Record<string, string[]>[];
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** What an SDK must have: the `operationId` of each `POST /v1/payments` and so on. */
export function operationsOf(document: OpenApi): Record<string, string> {
  return Object.fromEntries(
    Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/v1/') && !NOT_FOR_SDKS.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([method, operation]) => METHODS.includes(method) && takesKeys(operation))
          .map(([method, { operationId }]) => [`${method.toUpperCase()} ${path}`, operationId]),
      ),
  );
}

/** The parts of a page and of the file are the SDK's own affair; a month is given by its place. */
const NOT_FILTERS = new Set(['limit', 'cursor', 'format', 'month']);

/** What each operation can be asked for in its query: `GET /v1/payments status` and so on. */
export function filtersOf(document: OpenApi): string[] {
  return Object.keys(operationsOf(document)).flatMap((operation) => {
    const [method = '', path = ''] = operation.split(' ');
    const { parameters = [] } = document.paths[path]?.[method.toLowerCase()] ?? {};
    return parameters
      .filter((parameter) => parameter.in === 'query' && !NOT_FILTERS.has(parameter.name))
      .map(({ name }) => `${operation} ${name}`);
  });
}

/** Puts what earlier calls saved into the places that name it. */
export function fillIn<Value>(value: Value, saved: Readonly<Record<string, string>>): Value {
  return JSON.parse(JSON.stringify(value), (_key, item) =>
    typeof item === 'string' && item.startsWith('$') ? (saved[item.slice(1)] ?? item) : item,
  ) as Value;
}
