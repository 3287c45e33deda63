import { useEffect, useState } from 'react';
import { keepIn, roomOfWindow } from '../app/room.ts';

/** Names of fields whose content is never put aside, however deep they lie. */
const SECRET = /pass|secret|token|key|code|pin|iban|number|routing/i;
const PREFIX = 'ui-draft ';
const LENGTH_MAX = 100_000;
const KEPT_MS = 60 * 60_000;

type Values = Readonly<Record<string, unknown>>;

interface Draft {
  owner: string;
  at: number;
  values: Values;
}

let owner: string | undefined;
const savers = new Set<() => void>();

/** What was typed when the session ended, until the same person has logged in again; in this window only. */
export const drafts = {
  /** What is put aside is given back to nobody else. */
  belongTo(personId: string): void {
    owner = personId;
  },
  /** Before one is led away to the log-in. */
  keepAll(): void {
    for (const save of savers) save();
  },
  /** Somebody leaves of their own will. */
  forget(): void {
    const room = roomOfWindow();
    for (const key of Object.keys(room ?? {})) if (key.startsWith(PREFIX)) room?.removeItem(key);
  },
};

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `hidden` are texts that are secret under any name. */
export function withoutSecrets(values: object, hidden: ReadonlySet<unknown> = new Set()): Values {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => !SECRET.test(name) && !hidden.has(value))
      .map(([name, value]) => [name, isObject(value) ? withoutSecrets(value, hidden) : value]),
  );
}

/** What stands in the fields of the page that are for secrets, also while one is shown: a name does not tell it ("current"). */
function hiddenTexts(): ReadonlySet<string> {
  const fields = document.querySelectorAll<HTMLInputElement>('.mantine-PasswordInput-input input');
  return new Set([...fields].map(({ value }) => value).filter((text) => text !== ''));
}

/** The draft's fields in place of those of the form; fields that a draft has not stay as they are. */
export function mergeDraft<Form extends object>(form: Form, draft: Values): Form {
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(form));
  for (const [name, value] of Object.entries(draft)) {
    const own = merged[name];
    merged[name] = isObject(own) && isObject(value) ? mergeDraft(own, value) : value;
  }
  return merged as Form;
}

function read(name: string): Values | undefined {
  const text = roomOfWindow()?.getItem(PREFIX + name) ?? null;
  if (text === null) return undefined;
  const draft = JSON.parse(text) as Draft;
  return draft.owner === owner && Date.now() - draft.at < KEPT_MS ? draft.values : undefined;
}

function save(name: string, values: object): void {
  if (owner === undefined) return;
  const kept = withoutSecrets(values, hiddenTexts());
  if (Object.keys(kept).length === 0) return;
  const text = JSON.stringify({ owner, at: Date.now(), values: kept } satisfies Draft);
  if (text.length <= LENGTH_MAX) keepIn(roomOfWindow(), PREFIX + name, text);
}

/** `name` says which form of the page it is. What comes back is what had been typed there, once. */
export function useDraft(form: { name: string; current: () => object | undefined }): Values | undefined {
  const { name, current } = form;
  const [place] = useState(() => `${window.location.pathname} ${name}`);
  const [restored] = useState(() => read(place));
  useEffect(() => roomOfWindow()?.removeItem(PREFIX + place), [place]);
  useEffect(() => {
    const keep = () => {
      const values = current();
      if (values !== undefined) save(place, values);
    };
    savers.add(keep);
    return () => {
      savers.delete(keep);
    };
  });
  return restored;
}
