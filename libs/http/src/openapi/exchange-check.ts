import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { PROBLEM_TYPE } from '../edge/problem.ts';
import { explain, type JsonSchema } from '../input/schema-explain.ts';
import { EDGE_CODES } from './problems.ts';
import type { Answer, DocumentSchema, OpenApiDocument, Operation, Parameter, Reference } from './schema.ts';

/** A request that was sent, and what came back. */
export type Exchange = {
  method: string;
  /** With the query. */
  path: string;
  /** With names in lower case. */
  requestHeaders: Readonly<Record<string, string>>;
  requestBody: string | undefined;
  status: number;
  contentType: string;
  answer: string;
};

type Check = (value: unknown) => string[];
type Known = { operation: Operation; name: string; pattern: RegExp; hasParameters: boolean };

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const FAULTS_SHOWN_MAX = 10;

/**
 * Says what of an exchange the document does not: a status or a code that is not listed, a field that no schema has, one
 * that is missing, and a request that was taken although its schema refuses it. For tests: answers are checked more
 * strictly than clients should, which must let new fields pass.
 */
export function createExchangeCheck(document: OpenApiDocument): (exchange: Exchange) => void {
  const known = operationsOf(document);
  const compiled = new Map<DocumentSchema, Check>();

  function checkOf(schema: DocumentSchema, isStrict: boolean): Check {
    let check = compiled.get(schema);
    if (check === undefined) {
      check = compileCheck(resolveAll(document, schema, isStrict));
      compiled.set(schema, check);
    }
    return check;
  }

  function answerFaults(operation: Operation, exchange: Exchange): string[] {
    const listed = operation.responses[String(exchange.status)];
    if (listed === undefined) return unlistedFaults(exchange);
    const { content } = resolveReference<Answer>(document, listed);
    if (content === undefined) return exchange.answer === '' ? [] : ['has a body, and none is listed'];
    const type = exchange.contentType.split(';', 1)[0] ?? '';
    const media = content[type];
    if (media === undefined) return [`has the type "${type}", and ${Object.keys(content)} is listed`];
    if (!type.endsWith('json')) return [];
    const body: unknown = JSON.parse(exchange.answer);
    if (type !== PROBLEM_TYPE) return checkOf(media.schema, true)(body);
    const codes = media.schema.allOf?.[1]?.properties?.code?.enum ?? [];
    const { code } = body as { code: string };
    const faults = codes.includes(code) ? [] : [`has the code ${code}, and ${codes.join(', ')} are listed`];
    return [...faults, ...checkOf(document.components.schemas.Problem as DocumentSchema, true)(body)];
  }

  function requestFaults(operation: Operation, exchange: Exchange): string[] {
    return [...bodyFaults(operation, exchange), ...parameterFaults(operation, exchange)];
  }

  function bodyFaults({ requestBody: listed }: Operation, { requestBody }: Exchange): string[] {
    const media = listed?.content['application/json'];
    const isEmpty = requestBody === undefined || requestBody === '';
    if (isEmpty) return listed?.required === true ? ['the body is missing'] : [];
    if (listed === undefined) return requestBody === '{}' ? [] : ['a body was taken, and none is listed'];
    return media === undefined ? [] : checkOf(media.schema, false)(JSON.parse(requestBody));
  }

  function parameterFaults(operation: Operation, { path, requestHeaders }: Exchange): string[] {
    const parameters = (operation.parameters ?? []).map((one) => resolveReference<Parameter>(document, one));
    const query = new URLSearchParams(path.split(/\?(.*)/s, 2)[1] ?? '');
    const inQuery = parameters.filter((parameter) => parameter.in === 'query');
    const faults: string[] = [];
    // A route that reads no query does not look at it either.
    for (const [name, value] of inQuery.length === 0 ? [] : query) {
      const parameter = inQuery.find(
        (one) => one.name === (one.style === 'deepObject' ? baseOf(name) : name),
      );
      if (parameter === undefined) faults.push(`the parameter ${name} was taken, and is not listed`);
      else if (parameter.style !== 'deepObject')
        faults.push(
          ...checkOf(
            parameter.schema,
            false,
          )(typed(parameter.schema, value)).map((fault) => `${name}${fault}`),
        );
    }
    for (const { name, in: place, required } of parameters) {
      const isMissing =
        place === 'query' ? !query.has(name) : requestHeaders[name.toLowerCase()] === undefined;
      if (required === true && place !== 'path' && isMissing)
        faults.push(`${name} is missing, and was not asked for`);
    }
    return faults;
  }

  return (exchange) => {
    const found = findOperation(known, exchange);
    if (found === undefined) return;
    const faults = answerFaults(found.operation, exchange);
    if (exchange.status < 400) faults.push(...requestFaults(found.operation, exchange));
    if (faults.length === 0) return;
    const shown = faults.slice(0, FAULTS_SHOWN_MAX).join('\n  ');
    throw new Error(
      `The reference of ${found.name} does not know this: ${exchange.method} ${exchange.path} answered ${exchange.status}\n  ${shown}\n${exchange.answer.slice(0, 1_000)}`,
    );
  };
}

function unlistedFaults({ answer, contentType }: Exchange): string[] {
  const fault = ['has a status that is not listed'];
  if (!contentType.startsWith(PROBLEM_TYPE)) return fault;
  const { code } = JSON.parse(answer) as { code: string };
  return EDGE_CODES.includes(code) ? [] : fault;
}

function operationsOf(document: OpenApiDocument): Known[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const name = `${method.toUpperCase()} ${path}`;
      const pattern = new RegExp(`^${name.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      return [{ operation, name, pattern, hasParameters: path.includes('{') }];
    }),
  );
}

/** Fixed words come before places for ids. */
function findOperation(known: readonly Known[], { method, path }: Exchange): Known | undefined {
  const text = `${method} ${path.split('?', 1)[0]}`;
  const fits = known.filter(({ pattern }) => pattern.test(text));
  return fits.find(({ hasParameters }) => !hasParameters) ?? fits[0];
}

function resolveReference<Target>(document: OpenApiDocument, value: object): Target {
  const { $ref } = value as Partial<Reference>;
  if ($ref === undefined) return value as Target;
  const [, , kind = '', name = ''] = $ref.split('/');
  return (document.components as unknown as Record<string, Record<string, Target>>)[kind]?.[name] as Target;
}

/** The schema with everything that it refers to in it; a strict one refuses fields that it does not name. */
function resolveAll(document: OpenApiDocument, given: DocumentSchema, isStrict: boolean): DocumentSchema {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const schema = resolveReference<DocumentSchema>(document, value);
    if (schema !== value) return walk(schema);
    const entries = Object.entries(schema).filter(
      ([keyword]) => keyword !== 'examples' && keyword !== 'default',
    );
    const copy = Object.fromEntries(entries.map(([keyword, part]) => [keyword, walk(part)]));
    const isOpen = copy.properties !== undefined && copy.additionalProperties === undefined;
    return isStrict && isOpen && copy.type === 'object' ? { ...copy, additionalProperties: false } : copy;
  };
  return walk(given) as DocumentSchema;
}

function compileCheck(schema: DocumentSchema): Check {
  const validator = Compile(schema as TSchema);
  return (value) => {
    if (validator.Check(value)) return [];
    const found = explain(schema as JsonSchema, value).map(({ pointer, detail }) => `${pointer}: ${detail}`);
    return found.length > 0 ? found : [': does not fit'];
  };
}

/** `metadata[order]` belongs to `metadata`. */
function baseOf(name: string): string {
  return name.split('[', 1)[0] ?? name;
}

/** Values of a query are texts; the schema says what they stand for. */
function typed({ type }: DocumentSchema, value: string): unknown {
  if (type === 'integer' || type === 'number') return Number(value);
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  return value;
}
