import type { UseFormReturnType } from '@mantine/form';
import { useEffect, useRef } from 'react';

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The fields of a form that hold another value than they began with. */
export function changesOf<Values extends object>(begun: Values, values: Values): Partial<Values> {
  const changed = Object.entries(values).filter(
    ([name, value]) => !isSame(value, begun[name as keyof Values]),
  );
  return Object.fromEntries(changed) as Partial<Values>;
}

interface Changes<Values> {
  changed: () => Partial<Values>;
  /** What is sent now; whoever calls what comes back says that it has been. */
  sending: (values: Values) => () => void;
}

/**
 * Which fields somebody has changed. A form of what is stored follows in all others what is stored meanwhile: another window, or
 * another person, may change it while the page is open.
 */
export function useChanges<Values extends object>(
  form: UseFormReturnType<Values>,
  { initialValues, isStored = false }: { initialValues: Values; isStored?: boolean | undefined },
): Changes<Values> {
  const begun = useRef(initialValues);
  const latest = useRef(initialValues);
  latest.current = initialValues;
  /** Shows what is stored in each field that still holds what it held `before`. */
  const follow = (before: Values) => {
    const values = form.getValues();
    begun.current = latest.current;
    for (const [name, value] of Object.entries(changesOf(values, latest.current)))
      if (isSame(values[name as keyof Values], before[name as keyof Values]))
        form.setFieldValue(name as never, value as never);
  };
  const stored = JSON.stringify(initialValues);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when what is stored is another
  useEffect(() => {
    if (isStored) follow(begun.current);
  }, [stored]);
  return {
    changed: () => changesOf(begun.current, form.getValues()),
    sending(values) {
      const atFirst = latest.current;
      return () => {
        if (isStored && !isSame(latest.current, atFirst)) return follow(values);
        // One that was emptied for the next begins anew.
        const isEmptied = !isStored && isSame(form.getValues(), form.getInitialValues());
        begun.current = isEmptied ? form.getValues() : values;
      };
    },
  };
}
