// What the check of contract tests finds: each fault is planted once.
import { defineErrors } from '@libs/runtime';
import Type from 'typebox';
import { expect, test } from 'vitest';
import { createDocument } from './document.ts';
import { createExchangeCheck, type Exchange } from './exchange-check.ts';

const errors = defineErrors({ taken: { kind: 'conflict', title: 'Taken' } });
const Thing = Type.Object({ id: Type.String(), size: Type.Optional(Type.Integer()) }, { title: 'Thing' });
const document = createDocument(
  [
    {
      method: 'POST',
      url: '/things/:id',
      schema: {
        params: Type.Object({ id: Type.String() }),
        querystring: Type.Object({ count: Type.Optional(Type.Integer({ maximum: 9 })) }),
        body: Type.Object({ name: Type.String() }, { additionalProperties: false }),
        response: { 200: Type.Object({ thing: Thing }) },
        parameters: [
          { name: 'Key', in: 'header', required: true, schema: { type: 'string' } },
          { name: 'tag', in: 'query', style: 'deepObject', schema: { type: 'object' } },
        ],
      },
      codes: ['taken'],
      parameters: [],
      isRateLimited: false,
      isKeyed: false,
    },
  ],
  { name: 'things', version: '1', publicUrl: 'http://x', typeBase: 'http://x/errors', errors },
);
const check = createExchangeCheck(document);
const good: Exchange = {
  method: 'POST',
  path: '/things/t_1?count=2&tag[a]=b',
  requestHeaders: { key: 'k' },
  requestBody: '{"name":"a"}',
  status: 200,
  contentType: 'application/json; charset=utf-8',
  answer: '{"thing":{"id":"t_1"}}',
};
const problem = (status: number, code: string, more: object = {}): Partial<Exchange> => ({
  status,
  contentType: 'application/problem+json',
  answer: JSON.stringify({
    type: 'http://x',
    title: 't',
    status,
    detail: 'd',
    code,
    request_id: 'r',
    ...more,
  }),
});

test.each<[string, Partial<Exchange>]>([
  ['what the document says', {}],
  ['a listed refusal', problem(409, 'taken')],
  ['what the edge refuses', problem(408, 'request_timeout')],
  ['a refused request that does not fit', { ...problem(422, 'invalid_request'), requestBody: '{}' }],
  ['an address that is not in the document', { path: '/others', status: 999 }],
])('%s passes', (_name, different) => {
  expect(() => check({ ...good, ...different })).not.toThrow();
});

test.each<[string, Partial<Exchange>, RegExp]>([
  ['a status that is not listed', problem(402, 'taken'), /not listed/],
  ['a code that is not listed', problem(409, 'internal'), /code internal/],
  ['a member of a problem that is not listed', problem(409, 'taken', { hint: 1 }), /hint/],
  ['a field that no schema has', { answer: '{"thing":{"id":"t_1","color":"red"}}' }, /color/],
  ['a field that is missing', { answer: '{"thing":{}}' }, /thing\/id/],
  ['a value of another type', { answer: '{"thing":{"id":1}}' }, /thing\/id/],
  ['another media type', { contentType: 'text/html' }, /text\/html/],
  ['a body that its schema refuses, taken', { requestBody: '{"name":"a","x":1}' }, /x/],
  ['no body where one must be, taken', { requestBody: undefined }, /body is missing/],
  ['a parameter that is not listed, taken', { path: '/things/t_1?other=1' }, /other/],
  ['a parameter that its schema refuses, taken', { path: '/things/t_1?count=10' }, /count/],
  ['no header where one must be, taken', { requestHeaders: {} }, /Key is missing/],
])('%s fails', (_name, different, fault) => {
  expect(() => check({ ...good, ...different })).toThrow(fault);
});
