// What a session sees of a schema: the filter works on a copy, whatever the schema and however many ask at once.
import fc from 'fast-check';
import Type from 'typebox';
import { expect, test } from 'vitest';
import type { ToolClass, ToolDefinition } from '../connectors/connector.ts';
import { fullInputSchema, withErrorForm, withoutAccount } from './schemas.ts';
import { annotationsOf, type ObjectSchema } from './tool.ts';

const definition = (toolClass: ToolClass, list = false): Omit<ToolDefinition, 'run'> => ({
  ...{ name: 'alpha_do_thing', title: 'Do', description: 'Does.', class: toolClass, list, untrusted: false },
  inputSchema: Type.Object({ text: Type.String(), account_id: Type.Optional(Type.String()) }),
  outputSchema: Type.Object({ number: Type.Integer() }, { additionalProperties: false }),
});

test('the framework adds what the class and the kind bring', () => {
  const added = (toolClass: ToolClass, list = false) =>
    Object.keys(fullInputSchema(definition(toolClass, list), []).properties).slice(2);
  expect(added('R')).toEqual(['account']);
  expect(added('R', true)).toEqual(['limit', 'cursor', 'account']);
  expect(added('I')).toEqual(['account']);
  for (const toolClass of ['W', 'U', 'D'] as const)
    expect(added(toolClass)).toEqual(['idempotency_key', 'approval_id', 'account']);
});

test('account is an enumeration, required where there is a choice', () => {
  expect(fullInputSchema(definition('R'), ['a', 'b'])).toMatchObject({
    properties: { account: { type: 'string', enum: ['a', 'b'] } },
    required: ['text', 'account'],
    additionalProperties: false,
  });
  expect(fullInputSchema(definition('R'), ['a']).required).toEqual(['text']);
  expect(fullInputSchema(definition('R'), null).properties.account).toBeUndefined();
});

test('a tool cannot declare what the framework adds', () => {
  const greedy = { ...definition('W'), inputSchema: Type.Object({ idempotency_key: Type.String() }) };
  expect(() => fullInputSchema(greedy, null)).toThrow(/idempotency_key/);
});

const leaf = fc.record({ type: fc.constantFrom('string', 'integer'), description: fc.string() });
const anySchema = fc
  .record({
    properties: fc.dictionary(
      fc.constantFrom('text', 'account', 'account_id', 'accounts', 'limit'),
      fc.oneof(
        leaf,
        fc.record({
          type: fc.constant('object'),
          properties: fc.dictionary(fc.constantFrom('account', 'x'), leaf),
        }),
      ),
    ),
    required: fc.option(fc.subarray(['text', 'account', 'limit']), { nil: undefined }),
  })
  .map(({ properties, required }): ObjectSchema => {
    return { type: 'object', properties, ...(required === undefined ? {} : { required }) };
  });

test('[TH-5.4] the copy lacks account and nothing else; the original is deep-equal before and after, under parallel sessions', async () => {
  await fc.assert(
    fc.asyncProperty(anySchema, async (original) => {
      const before = structuredClone(original);
      const copies = await Promise.all(
        Array.from({ length: 8 }, async (_, n) => {
          if (n % 2 === 0) await new Promise((done) => setImmediate(done));
          const copy = withoutAccount(original);
          const { account: _account, ...others } = before.properties;
          expect(copy.properties).toEqual(others);
          expect(copy.required ?? []).toEqual((before.required ?? []).filter((name) => name !== 'account'));
          // What one session does with its copy reaches no other.
          for (const property of Object.values(copy.properties)) property.type = 'broken';
          copy.properties.intruder = {};
          return copy;
        }),
      );
      expect(original).toEqual(before);
      expect(new Set(copies).size).toBe(copies.length);
    }),
    { numRuns: 200 },
  );
});

test('[TH-13.6] annotations by class, all four, always', () => {
  const hints = (toolClass: ToolClass) => Object.values(annotationsOf(toolClass, { openWorld: true }));
  expect(hints('R')).toEqual([true, false, true, true]);
  expect(hints('W')).toEqual([false, false, false, true]);
  expect(hints('I')).toEqual([false, false, true, true]);
  expect(hints('U')).toEqual([false, true, true, true]);
  expect(hints('D')).toEqual([false, true, true, true]);
  expect(annotationsOf('R', { openWorld: false }).openWorldHint).toBe(false);
});

test('an output is what the tool says or an error, and stays an object', () => {
  expect(withErrorForm(definition('R').outputSchema)).toMatchObject({
    type: 'object',
    properties: { number: { type: 'integer' }, error: { required: ['code', 'message'] } },
    anyOf: [{ required: ['number'] }, { required: ['error'] }],
  });
});
