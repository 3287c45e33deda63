// The operations of a document, and requests made of nothing but their examples.
import type { OpenApiDocument, Parameter } from '@libs/http';

type Operation = NonNullable<OpenApiDocument['paths'][string][string]>;

export interface Listed {
  id: string;
  name: string;
  method: string;
  path: string;
  operation: Operation;
}

export function listOperations({ paths }: OpenApiDocument): Listed[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      id: operation.operationId ?? '',
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

export function parametersOf(document: OpenApiDocument, { operation }: Listed): Parameter[] {
  return (operation.parameters ?? []).map((one) =>
    '$ref' in one ? (document.components.parameters[one.$ref.split('/').at(-1) ?? ''] as Parameter) : one,
  );
}

/** What somebody sends who copies the examples; an id of the caller's own takes the place of the one in the path. */
export function requestOf(document: OpenApiDocument, listed: Listed, id?: string) {
  const parameters = parametersOf(document, listed);
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let { path } = listed;
  for (const { name, in: place, example, style, required } of parameters) {
    if (place === 'path') path = path.replace(`{${name}}`, id ?? String(example));
    else if (place === 'header' && required) headers[name] = String(example);
    else if (place === 'query' && style === 'deepObject')
      for (const [key, value] of Object.entries(example as object))
        query.set(`${name}[${key}]`, String(value));
    else if (place === 'query' && example !== undefined) query.set(name, String(example));
  }
  const body = listed.operation.requestBody?.content['application/json']?.example;
  const search = query.size === 0 ? '' : `?${query}`;
  return {
    method: listed.method,
    path: `${path}${search}`,
    headers,
    ...(body === undefined ? {} : { body }),
  };
}
