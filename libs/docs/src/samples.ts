/** As Scalar and other references read them from `x-codeSamples`. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

type Operation = { operationId?: string; 'x-codeSamples'?: readonly CodeSample[] };
interface Described {
  paths?: Record<string, Record<string, Operation>>;
}

/** A copy of the API's document in which every operation has its code. */
export function withSamples(
  document: object,
  samples: ReadonlyMap<string, readonly CodeSample[]> = new Map(),
): object {
  const copy = structuredClone(document) as Described;
  for (const path of Object.values(copy.paths ?? {})) {
    for (const operation of Object.values(path)) {
      const own = samples.get(operation.operationId ?? '');
      if (own !== undefined) operation['x-codeSamples'] = own;
    }
  }
  return copy;
}
