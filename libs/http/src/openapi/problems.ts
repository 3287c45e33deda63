import { type ErrorCatalogue, type ErrorDefinition, isRetryable, statusByKind } from '@libs/runtime';
import { PROBLEM_TYPE } from '../edge/problem.ts';
import type { Answer, DocumentSchema, Header, Reference } from './schema.ts';

const REQUEST_ID = 'req_0000000000000000000000000';

/** What the edge refuses before it knows which operation is meant; the `default` answer of each stands for these. */
export const EDGE_CODES: readonly string[] = [
  'headers_too_large',
  'host_not_accepted',
  'method_not_allowed',
  'request_timeout',
  'uri_too_long',
];

export const headerComponents: Record<string, Header> = {
  RequestId: {
    description: 'Names this request in our logs; tell it to us when you ask about it.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next try.',
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimit: {
    description: 'How many requests are left (`r`) and in how many seconds there are more (`t`).',
    schema: { type: 'string', examples: ['"key";r=49;t=1'] },
  },
  RateLimitPolicy: {
    description: 'How many requests (`q`) are allowed in how many seconds (`w`).',
    schema: { type: 'string', examples: ['"key";q=25;w=1'] },
  },
  IdempotentReplayed: {
    description: '`true` where this is the answer to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Authenticate: { description: 'How to authenticate (RFC 9110).', schema: { type: 'string' } },
};

export function headerReference(name: keyof typeof headerComponents): Reference {
  return { $ref: `#/components/headers/${name}` };
}

/** Why a request may be refused, whatever it is for. */
export function edgeCodesOf(route: {
  method: string;
  hasPathParameters: boolean;
  hasQuery: boolean;
  hasHeaders: boolean;
  hasBody: boolean;
}): string[] {
  const readsBody = route.method !== 'GET';
  return [
    'bad_request',
    'internal',
    'shutting_down',
    'not_ready',
    ...(route.hasPathParameters ? ['not_found'] : []),
    ...(route.hasQuery ? ['invalid_query'] : []),
    ...(route.hasHeaders ? ['invalid_header'] : []),
    ...(readsBody ? ['invalid_json', 'body_too_large', 'unsupported_media_type', 'invalid_request'] : []),
  ];
}

/** The answers of an operation that can refuse with these codes. */
export class Problems {
  readonly components: Record<string, Answer> = {};
  readonly #errors: ErrorCatalogue;
  readonly #typeBase: string;

  constructor(options: { errors: ErrorCatalogue; typeBase: string }) {
    this.#errors = options.errors;
    this.#typeBase = options.typeBase;
  }

  answersFor(codes: readonly string[]): Record<string, Answer | Reference> {
    const byStatus = new Map<number, Set<string>>();
    for (const code of codes) {
      const status = statusByKind[this.#definitionOf(code).kind];
      byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
    }
    const sorted = [...byStatus].sort(([a], [b]) => a - b);
    return Object.fromEntries(
      sorted.map(([status, some]) => [String(status), this.#answer(status, [...some])]),
    );
  }

  schema(members: Record<string, DocumentSchema>): DocumentSchema {
    return problemSchema(this.#errors.codes, members);
  }

  /** What comes from the edge and is no matter of one operation. */
  get fallback(): Reference {
    this.components.Problem ??= {
      description: 'Any other refusal: a request that could not be read, or a server that cannot take it.',
      headers: { 'X-Request-Id': headerReference('RequestId') },
      content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
    };
    return { $ref: '#/components/responses/Problem' };
  }

  #definitionOf(code: string): ErrorDefinition {
    const definition = this.#errors.definitions[code];
    if (definition === undefined) throw new TypeError(`There is no error with the code ${code}`);
    return definition;
  }

  #answer(status: number, codes: string[]): Answer | Reference {
    const [only] = codes;
    if (codes.length > 1 || only === undefined) return this.#inline(status, codes);
    const name = nameOf(only);
    this.components[name] ??= this.#inline(status, codes);
    return { $ref: `#/components/responses/${name}` };
  }

  #inline(status: number, codes: string[]): Answer {
    const explained = codes.map((code) => {
      const { detail, title } = this.#definitionOf(code);
      return { code, text: detail ?? title };
    });
    const description = explained.map(({ code, text }) => `\`${code}\`: ${text}`);
    return {
      description: description.length === 1 ? (description[0] as string) : `- ${description.join('\n- ')}`,
      headers: headersOf(status, this.#mayComeAgain(status, codes)),
      content: {
        [PROBLEM_TYPE]: {
          schema: {
            allOf: [
              { $ref: '#/components/schemas/Problem' },
              {
                type: 'object',
                properties: {
                  status: { type: 'integer', enum: [status] },
                  code: { type: 'string', enum: codes },
                },
              },
            ],
          },
          example: this.#example(codes[0] as string),
        },
      },
    };
  }

  /** Whether the answer says when to come again: as full or away, or for what another request is still doing. */
  #mayComeAgain(status: number, codes: readonly string[]): boolean {
    if (status === 429 || status === 503) return true;
    return status === 409 && codes.some((code) => isRetryable(this.#definitionOf(code)));
  }

  #example(code: string): Record<string, unknown> {
    const { kind, title, detail } = this.#definitionOf(code);
    return {
      type: `${this.#typeBase}#${code}`,
      title,
      status: statusByKind[kind],
      detail: detail ?? title,
      code,
      request_id: REQUEST_ID,
    };
  }
}

function headersOf(status: number, mayComeAgain: boolean): Record<string, Reference> {
  const headers = { 'X-Request-Id': headerReference('RequestId') };
  if (status === 401) return { ...headers, 'WWW-Authenticate': headerReference('Authenticate') };
  return mayComeAgain ? { ...headers, 'Retry-After': headerReference('RetryAfter') } : headers;
}

function nameOf(code: string): string {
  return code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** `members` are what problems of single codes tell besides. */
function problemSchema(codes: readonly string[], members: Record<string, DocumentSchema>): DocumentSchema {
  const text = { type: 'string' };
  return {
    type: 'object',
    description: 'Why a request was refused (RFC 9457). Branch on `code`; the texts may change.',
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'The place of this code on the page of errors.' },
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: { type: 'string', enum: [...codes] },
      request_id: { type: 'string', description: 'Also in the header `X-Request-Id`.' },
      errors: {
        type: 'array',
        description: 'Every bad field.',
        items: {
          type: 'object',
          required: ['code', 'detail'],
          properties: {
            pointer: { type: 'string', description: 'Where in the body (RFC 6901).' },
            parameter: { type: 'string', description: 'Which parameter of the address, or which header.' },
            code: text,
            detail: text,
          },
        },
      },
      ...members,
    },
  };
}
