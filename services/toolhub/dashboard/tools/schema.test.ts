import { expect, test } from 'vitest';
import { fieldsOf, NotJson, valuesOf } from './schema.ts';

const schema = {
  type: 'object',
  required: ['to', 'text'],
  properties: {
    limit: { type: 'integer' },
    to: { type: 'array', items: { type: 'string' } },
    text: { type: 'string', maxLength: 10_000 },
    mode: { anyOf: [{ const: 'plain' }, { const: 'html' }] },
    quiet: { type: 'boolean' },
    since: { type: 'string', format: 'date-time' },
    attachments: { type: 'array', items: { type: 'object' } },
  },
};

test('fields come from the schema, those that are needed first', () => {
  const fields = fieldsOf(schema);
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ['to', 'lines'],
    ['text', 'long_text'],
    ['limit', 'number'],
    ['mode', 'choice'],
    ['quiet', 'boolean'],
    ['since', 'moment'],
    ['attachments', 'json'],
  ]);
});

test('what was typed becomes arguments, what was left empty is left out', () => {
  const fields = fieldsOf(schema);
  const typed = {
    to: 'a@example.com\n\n b@example.com',
    text: 'hi',
    limit: '5',
    quiet: false,
    attachments: '[{"a":1}]',
    since: '2026-11-06T12:05',
  };
  expect(valuesOf(fields, typed)).toEqual({
    to: ['a@example.com', 'b@example.com'],
    text: 'hi',
    limit: 5,
    attachments: [{ a: 1 }],
    since: new Date(2026, 10, 6, 12, 5).toISOString(),
  });
  expect(valuesOf(fields, { since: 'soon' })).toEqual({ since: 'soon' });
  expect(() => valuesOf(fields, { attachments: '[' })).toThrow(NotJson);
});
