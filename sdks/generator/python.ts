import type { Definition, Field, Shape } from './shapes.ts';

const HEAD = `"""Made from the OpenAPI document of the service; the test beside the generator says how to make it anew."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from ._objects import ApiObject
`;
const LINE_LENGTH_MAX = 110;

function typeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'anything':
      return 'Any';
    case 'nothing':
      return 'None';
    case 'literals':
      return `Literal[${shape.values.map((value) => JSON.stringify(value)).join(', ')}]`;
    case 'list':
      return `List[${typeOf(shape.item)}]`;
    case 'map':
      return `Dict[str, ${typeOf(shape.value)}]`;
    case 'either':
      return eitherOf(shape.parts);
    case 'named':
      return shape.name;
  }
}

function eitherOf(parts: readonly Shape[]): string {
  const others = parts.filter(({ kind }) => kind !== 'nothing').map(typeOf);
  const joined = others.length === 1 ? (others[0] as string) : `Union[${others.join(', ')}]`;
  return others.length === parts.length ? joined : `Optional[${joined}]`;
}

function fieldOf({ name, shape, about }: Field): string {
  const comment =
    about === undefined
      ? ''
      : wrapped(about)
          .map((line) => `    #: ${line}\n`)
          .join('');
  return `${comment}    ${name}: ${typeOf(shape)}`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) as string;
    if (last.length + word.length > LINE_LENGTH_MAX - 8) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

function aliasOf(name: string, shape: Shape): string {
  const line = `${name} = ${typeOf(shape)}`;
  if (line.length <= LINE_LENGTH_MAX || shape.kind !== 'literals') return line;
  return `${name} = Literal[\n${shape.values.map((value) => `    ${JSON.stringify(value)},\n`).join('')}]`;
}

/** Objects that come from the API. What they may leave out is None, also within other objects: `ApiObject` is told where. */
function answersOf(definitions: readonly Definition[]): string[] {
  const incomplete = new Set<string>();
  const classes: string[] = [];
  // Parts come before what they are parts of.
  for (const one of definitions) {
    if (one.kind !== 'object') continue;
    const optional = one.fields.filter((field) => field.optional).map(({ name }) => JSON.stringify(name));
    const parts = one.fields.flatMap(({ name, shape }) => {
      const found = namesIn(shape).filter((part) => incomplete.has(part));
      if (found.length > 0 && namesIn(shape).length > 1)
        throw new Error(`${one.name}.${name} is one of several objects, of which one leaves fields out`);
      return found.map((part) => `${JSON.stringify(name)}: ${part}`);
    });
    if (optional.length + parts.length > 0) incomplete.add(one.name);
    const lines = [
      `class ${one.name}(ApiObject):`,
      ...one.fields.map((field) => fieldOf({ ...field, shape: shapeOf(field) })),
      ...(optional.length === 0 ? [] : [`    _optional = frozenset({${optional.join(', ')}})`]),
      ...(parts.length === 0 ? [] : [`    _parts = {${parts.join(', ')}}`]),
    ];
    classes.push(lines.join('\n'));
  }
  return classes;
}

function shapeOf({ shape, optional }: Field): Shape {
  if (!optional) return shape;
  const parts = shape.kind === 'either' ? shape.parts : [shape];
  return { kind: 'either', parts: [...parts.filter(({ kind }) => kind !== 'nothing'), { kind: 'nothing' }] };
}

function namesIn(shape: Shape): string[] {
  if (shape.kind === 'named') return [shape.name];
  if (shape.kind === 'list') return namesIn(shape.item);
  return shape.kind === 'either' ? shape.parts.flatMap(namesIn) : [];
}

/** Objects that are sent to it: plain dictionaries. Python 3.10 marks optional fields by a second class. */
function bodyOf(name: string, fields: readonly Field[]): string {
  const required = fields.filter(({ optional }) => !optional);
  const optional = fields.filter((field) => field.optional);
  const lines = (some: readonly Field[]) => some.map(fieldOf).join('\n');
  if (optional.length === 0) return `class ${name}(TypedDict):\n${lines(required)}`;
  if (required.length === 0) return `class ${name}(TypedDict, total=False):\n${lines(optional)}`;
  return `class _${name}(TypedDict):\n${lines(required)}\n\n\nclass ${name}(_${name}, total=False):\n${lines(optional)}`;
}

export function toPython(answers: readonly Definition[], bodies: readonly Definition[]): string {
  const sent = new Set(bodies.flatMap(({ kind, name }) => (kind === 'object' ? [name] : [])));
  const twice = answers.find(({ kind, name }) => kind === 'object' && sent.has(name));
  if (twice !== undefined)
    throw new Error(`${twice.name} is both sent and answered: name the answer otherwise in nouns.ts`);
  const aliases = new Map(
    [...answers, ...bodies].flatMap((one) => (one.kind === 'alias' ? [[one.name, one] as const] : [])),
  );
  const lines = [...aliases.values()].map(({ name, shape }) => ({ shape, text: aliasOf(name, shape) }));
  const classes = [
    ...bodies.flatMap((one) => (one.kind === 'object' ? [bodyOf(one.name, one.fields)] : [])),
    ...answersOf(answers),
  ];
  // What is made of classes comes after them.
  const before = lines.filter(({ shape }) => shape.kind === 'literals').map(({ text }) => text);
  const after = lines.filter(({ shape }) => shape.kind !== 'literals').map(({ text }) => text);
  const all = [...new Set([...answers, ...bodies].map(({ name }) => name))].sort();
  const exported = `__all__ = [\n${all.map((name) => `    "${name}",\n`).join('')}]`;
  return `${HEAD}\n${exported}\n\n${before.join('\n')}\n\n\n${[...classes, after.join('\n')].join('\n\n\n')}\n`;
}
