import type { Definition, Field, Shape } from './shapes.ts';

const NOTE =
  '// Made from the OpenAPI document of the service; the test beside the generator says how to make it anew.';

function typeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'anything':
      return 'unknown';
    case 'nothing':
      return 'null';
    case 'literals':
      return shape.values.map((value) => `'${value}'`).join(' | ');
    case 'list':
      return `(${typeOf(shape.item)})[]`;
    case 'map':
      return `Record<string, ${typeOf(shape.value)}>`;
    case 'either':
      return shape.parts.map(typeOf).join(' | ');
    case 'named':
      return shape.name;
  }
}

function fieldOf({ name, shape, optional, about }: Field): string {
  const comment = about === undefined ? '' : `/** ${about.replaceAll('*/', '* /')} */\n`;
  // An optional field may also be given as undefined, which is not sent: users with exactOptionalPropertyTypes need it said.
  return `${comment}${name}${optional ? '?' : ''}: ${typeOf(shape)}${optional ? ' | undefined' : ''};`;
}

/** Needs a formatter: brackets and line breaks are not its business. */
export function toTypeScript(definitions: readonly Definition[]): string {
  const parts = definitions.map((definition) =>
    definition.kind === 'alias'
      ? `export type ${definition.name} = ${typeOf(definition.shape)};`
      : `export interface ${definition.name} {\n${definition.fields.map(fieldOf).join('\n')}\n}`,
  );
  return `${[NOTE, ...parts].join('\n\n')}\n`;
}
