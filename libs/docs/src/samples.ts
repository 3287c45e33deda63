/** As Scalar and other references read them from `x-codeSamples`. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

interface Operation {
  operationId?: string;
  security?: readonly Readonly<Record<string, unknown>>[];
  requestBody?: {
    content?: Record<string, { example?: unknown; examples?: Record<string, { value?: unknown }> }>;
  };
  'x-codeSamples'?: readonly CodeSample[];
}
interface Described {
  servers?: readonly { url: string }[];
  paths?: Record<string, Record<string, Operation>>;
  components?: { securitySchemes?: Record<string, { type?: string }> };
}

export interface SampleOptions {
  /** Code that was written for an operation, by its id. */
  samples?: ReadonlyMap<string, readonly CodeSample[]>;
  /** The variable of the shell that holds the token of a security scheme. */
  tokens: Readonly<Record<string, string>>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** A copy of the API's document in which every operation has its code: the one written for it, or a call with curl. */
export function withSamples(document: object, { samples = new Map(), tokens }: SampleOptions): object {
  const copy = structuredClone(document) as Described;
  for (const [path, operations] of Object.entries(copy.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!METHODS.includes(method)) continue;
      const own = samples.get(operation.operationId ?? '');
      operation['x-codeSamples'] = own ?? [curlSample(copy, { method, path, operation, tokens })];
    }
  }
  return copy;
}

interface CurlInput {
  method: string;
  path: string;
  operation: Operation;
  tokens: SampleOptions['tokens'];
}

function curlSample(document: Described, { method, path, operation, tokens }: CurlInput): CodeSample {
  const verb = method.toUpperCase();
  const address = `${document.servers?.[0]?.url ?? ''}${path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `$${name.toUpperCase()}`)}`;
  const body = bodyOf(operation);
  const isPlain = verb === 'GET' || (verb === 'POST' && body !== undefined);
  const parts = [
    `curl -sS${isPlain ? '' : ` -X ${verb}`} ${address.includes('$') ? `"${address}"` : address}`,
    ...credentialOf(document, operation, tokens),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${body.replaceAll("'", "'\\''")}'`]),
  ];
  return { lang: 'Shell', label: 'curl', source: parts.join(' \\\n  ') };
}

/** The first way in that the operation names; a session is the cookie that logging in has left in a file. */
function credentialOf(
  document: Described,
  { security }: Operation,
  tokens: SampleOptions['tokens'],
): string[] {
  const [scheme] = Object.keys(security?.[0] ?? {});
  if (scheme === undefined) return [];
  if (document.components?.securitySchemes?.[scheme]?.type === 'apiKey') return ['-b cookies.txt'];
  return [`-H "Authorization: Bearer $${tokens[scheme] ?? 'TOKEN'}"`];
}

function bodyOf({ requestBody }: Operation): string | undefined {
  const json = requestBody?.content?.['application/json'];
  const value = json?.example ?? Object.values(json?.examples ?? {})[0]?.value;
  return value === undefined ? undefined : JSON.stringify(value, null, 2);
}
