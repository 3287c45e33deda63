import { answers, bodies, pythonAnswerNames } from './nouns.ts';
import { toPython } from './python.ts';
import { type Definition, type Document, readDefinitions } from './shapes.ts';
import { toTypeScript } from './typescript.ts';

/** Written by hand in both languages, where its type tells what its data is. */
const WRITTEN_BY_HAND: ReadonlySet<string> = new Set(['ApiEvent']);

const wanted = (definitions: readonly Definition[]) =>
  definitions.filter(({ name }) => !WRITTEN_BY_HAND.has(name));

/** The types of both SDKs, from the service's own document and its registry of errors. */
export function generate(
  document: Document,
  codes: readonly string[],
): { typeScript: string; python: string } {
  const errorCode: Definition = {
    kind: 'alias',
    name: 'ErrorCode',
    shape: { kind: 'literals', values: codes },
  };
  const both = readDefinitions(document, [...answers, ...bodies]);
  const pythonAnswers = readDefinitions(document, answers, pythonAnswerNames);
  return {
    typeScript: toTypeScript([...wanted(both), errorCode]),
    python: toPython([...wanted(pythonAnswers), errorCode], readDefinitions(document, bodies)),
  };
}
