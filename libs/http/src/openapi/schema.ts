/** JSON Schema as it stands in an OpenAPI 3.1 document. */
export type DocumentSchema = {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  default?: unknown;
  examples?: unknown[];
  anyOf?: DocumentSchema[];
  oneOf?: DocumentSchema[];
  allOf?: DocumentSchema[];
  items?: DocumentSchema;
  properties?: Record<string, DocumentSchema>;
  patternProperties?: Record<string, DocumentSchema>;
  propertyNames?: DocumentSchema;
  additionalProperties?: boolean | DocumentSchema;
  required?: string[];
  [keyword: string]: unknown;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  style?: string;
  explode?: boolean;
  schema: DocumentSchema;
  example?: unknown;
};

export type Header = { description: string; schema: DocumentSchema };
export type Media = { schema: DocumentSchema; example?: unknown };
export type Reference = { $ref: string };
export type Answer = {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, Media>;
};

export type Operation = {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: readonly string[];
  security?: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Answer | Reference>;
};

export type OpenApiDocument = {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags?: { name: string; description?: string }[];
  security?: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, DocumentSchema>;
    responses: Record<string, Answer>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
};
