import { type UseFormReturnType, useForm } from '@mantine/form';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { newIdempotencyKey } from '../api/idempotency-key.ts';
import {
  ApiError,
  ConnectionLost,
  DeviceRefused,
  type FieldProblem,
  fieldOfPointer,
} from '../api/problem.ts';
import { toast } from '../show/toast.ts';
import { texts } from '../texts.ts';
import { useChanges } from './changes.ts';
import { mergeDraft, useDraft, withoutSecrets } from './drafts.ts';
import { type HalfFilled, halfFilled } from './half-filled.ts';

export interface FormProblem {
  title: string;
  lines: string[];
}

export interface ApiForm<Values extends object> {
  form: UseFormReturnType<Values>;
  submit: (event: FormEvent<HTMLFormElement>) => void;
  sending: boolean;
  /** What the server said that belongs to no field of this form. */
  problem: FormProblem | undefined;
  /** What had been typed when the session ended is here again. */
  isRestored: boolean;
}

export interface ApiFormOptions<Values extends object> {
  initialValues: Values;
  /**
   * The key stays the same until the values change, so that a second try of the same does nothing twice. A form of what is stored
   * sends what was `changed` alone: the rest may be another by now.
   */
  send: (values: Values, idempotencyKey: string, changed: Partial<Values>) => Promise<unknown>;
  /** It begins with what is stored, and shows in each field that nobody has changed what is stored by then. */
  isStored?: boolean;
  validate?: Partial<Record<keyof Values, (value: never, values: Values) => string | null>>;
  /** Where a field of the form has another name than in the body. */
  fieldNames?: Record<string, string>;
  /** Refusals that name no field and are about one all the same, by their code. */
  fieldOfCode?: Readonly<Record<string, string>>;
  /** A refusal in the words of the page, where the server's are for programs; the server's where it gives none. */
  wordsOf?: (refusal: ApiError, values: Values) => string | undefined;
  /** Which form of the page it is, where what it begins with changes by itself and does not tell it from the others. */
  draftName?: string;
  /** What to do where no answer came, of what would be done twice by trying again. */
  lostWords?: string;
}

/** A form whose refusals appear at the fields that they are about. */
export function useApiForm<Values extends object>(options: ApiFormOptions<Values>): ApiForm<Values> {
  // Its fields are found by it: a page may have several forms with a field of the same name.
  const name = `form-${useId().replace(/[^a-zA-Z0-9]/g, '')}`;
  const form = useForm<Values>({
    name,
    initialValues: options.initialValues,
    // Not every component of the library says by itself to a screen reader that its field was refused.
    enhanceGetInputProps: ({ inputProps }) => ({ 'aria-invalid': inputProps.error ? true : undefined }),
    ...(options.validate === undefined ? {} : { validate: options.validate as never }),
  });
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<FormProblem>();
  const intention = useRef({ values: '', key: '' });
  const changes = useChanges(form, options);
  const draft = useDraft({
    name: options.draftName ?? JSON.stringify(withoutSecrets(options.initialValues)),
    current: changes.changed,
  });
  const [isRestored, setRestored] = useState(draft !== undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form appears
  useEffect(() => {
    if (draft !== undefined) form.setValues(mergeDraft(form.getValues(), draft) as never);
  }, []);
  const underWay = useRef(false);
  const element = useRef<HTMLFormElement>(null);

  const send = async (values: Values): Promise<void> => {
    if (underWay.current) return;
    underWay.current = true;
    const text = JSON.stringify(values);
    if (intention.current.values !== text) intention.current = { values: text, key: newIdempotencyKey() };
    setSending(true);
    setProblem(undefined);
    try {
      const sent = changes.sending(values);
      await options.send(values, intention.current.key, changes.changed());
      sent();
      intention.current = { values: '', key: '' };
      setRestored(false);
    } catch (error) {
      // Closed, or left, while it was sent: what was refused has no other place any more.
      if (element.current?.isConnected) setProblem(place(form, error, options));
      else tellOfGone(error, values, options);
    } finally {
      underWay.current = false;
      setSending(false);
    }
  };
  const onSubmit = form.onSubmit(
    (values) => void send(values),
    (errors) => focusFirst(form, Object.keys(errors)),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    element.current = event.currentTarget;
    const half = halfFilled(event.currentTarget);
    if (half.length === 0) return onSubmit(event);
    event.preventDefault();
    form.validate();
    tellOfHalf(form, name, half);
  };
  return { form, submit, sending, problem, isRestored };
}

function tellOfHalf<Values extends object>(
  form: UseFormReturnType<Values>,
  name: string,
  half: readonly HalfFilled[],
): void {
  for (const { field, words } of half)
    form.setFieldError(field.dataset.path?.slice(name.length + 1) ?? '', words);
  half[0]?.field.focus();
}

/** Puts what is about a field at that field, and gives back the rest. */
function place<Values extends object>(
  form: UseFormReturnType<Values>,
  error: unknown,
  { fieldNames = {}, fieldOfCode = {}, wordsOf, lostWords = texts.notSent }: ApiFormOptions<Values>,
): FormProblem | undefined {
  if (error instanceof ConnectionLost) return { title: texts.formProblem, lines: [lostWords] };
  if (error instanceof DeviceRefused) return { title: texts.formProblem, lines: [error.message] };
  if (!(error instanceof ApiError)) return { title: texts.unexpected, lines: [texts.unexpectedNext] };
  const said = wordsOf?.(error, form.getValues());
  const about = error.fields.length === 0 ? fieldOfCode[error.code] : undefined;
  if (about !== undefined) {
    form.setFieldError(about, said ?? error.message);
    focusFirst(form, [about]);
    return undefined;
  }
  const fieldOf = ({ pointer = '' }: FieldProblem) => {
    const path = fieldOfPointer(pointer);
    return fieldNames[path] ?? path;
  };
  const known = error.fields.filter((field) => hasField(form.getValues(), fieldOf(field)));
  for (const field of known) form.setFieldError(fieldOf(field), said ?? field.detail);
  focusFirst(form, known.map(fieldOf));
  const others = error.fields.filter((field) => !known.includes(field));
  if (known.length > 0 && others.length === 0) return undefined;
  const lines = others.map(({ pointer, detail }) =>
    pointer ? `${fieldOfPointer(pointer)}: ${detail}` : detail,
  );
  return { title: error.title, lines: lines.length > 0 ? lines : [said ?? error.message] };
}

/** In one message, what the fields and the end of the form would have said. */
function tellOfGone<Values extends object>(
  error: unknown,
  values: Values,
  { wordsOf, lostWords = texts.notSentGone }: ApiFormOptions<Values>,
): void {
  const said = error instanceof ApiError ? wordsOf?.(error, values) : undefined;
  if (error instanceof ApiError && (said !== undefined || error.fields.length > 0))
    toast.failed(error.title, said ?? error.fields.map(({ detail }) => detail).join(' '));
  else toast.problem(error, lostWords);
}

function focusFirst<Values extends object>(form: UseFormReturnType<Values>, fields: readonly string[]): void {
  const [first] = fields;
  if (first !== undefined) form.getInputNode(first as never)?.focus();
}

function hasField(values: object, path: string): boolean {
  let at: unknown = values;
  for (const part of path.split('.')) {
    if (typeof at !== 'object' || at === null || !(part in at)) return false;
    at = (at as Record<string, unknown>)[part];
  }
  return path !== '';
}
