import { CopyText, inItsDirection, isApiError } from '@libs/ui';
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TEST_HOLDER_NAME } from '../../src/payment-methods/method.ts';
import { client, useList, useObject } from '../api/client.ts';
import type { EventType, PaymentMethod } from '../api/types.ts';
import { texts } from '../texts.ts';
import { inTurn } from './in-turn.ts';

const words = texts.methods;
const LIST_PATH = '/v1/payment_methods';
const DELETED: EventType = 'payment_method.deleted';
/** As many names as one page of the API brings; what is older is asked for by its id. */
const NAMES_MAX = 100;
const NAME_KEPT_MS = 10 * 60_000;
const NOT_FOUND = 404;
const TOO_MANY_REQUESTS = 429;
const TRIES_MAX = 5;
const ID_END_CHARACTERS = 4;

export function accountOf({ bank_account: bank }: PaymentMethod): string {
  if (bank === null) return '';
  // The last digits stay beside what they are of.
  return `${inItsDirection(bank.holder_name)} · ${words.accountTypes[bank.account_type]}\u00a0····\u00a0${bank.last4}`;
}

/** As people speak of it; balances have no name, so they go by the end of their id. */
export function nameOf({ id, bank_account: bank }: Pick<PaymentMethod, 'id' | 'bank_account'>): string {
  const name = inItsDirection(bank?.holder_name ?? words.types.balance);
  return `${name}\u00a0····\u00a0${bank?.last4 ?? id.slice(-ID_END_CHARACTERS)}`;
}

/** Accounts of test mode that came to be by their first use are all held by the same; who named them knows their ids. */
const goesByItsId = ({ bank_account: bank }: PaymentMethod) => bank?.holder_name === TEST_HOLDER_NAME;

export function railsOf({ rails }: PaymentMethod): string {
  const names = (list: readonly (keyof typeof texts.rails)[]) =>
    list.length === 0 ? '–' : list.map((rail) => texts.rails[rail]).join(', ');
  const [send, receive] = [names(rails.send), names(rails.receive)];
  return send === receive ? send : words.sendsAndReceives(send, receive);
}

/** One that was deleted is known from the event that told of it, as long as that is kept; null for one that nothing tells of. */
async function readForName(id: string, signal: AbortSignal): Promise<PaymentMethod | null> {
  try {
    return await client.get<PaymentMethod>(`${LIST_PATH}/${encodeURIComponent(id)}`, { signal });
  } catch (error) {
    if (!isApiError(error) || error.status !== NOT_FOUND) throw error;
    const query = { object_id: id, type: DELETED, limit: 1 };
    const { data } = await client.get<{ data: { data: PaymentMethod }[] }>('/v1/events', { query, signal });
    return data[0]?.data ?? null;
  }
}

/** For its name, which hardly ever changes; nothing while it is not known. */
function useNamed(id: string, enabled = true): PaymentMethod | undefined {
  const newest = useList<PaymentMethod>(LIST_PATH, { limit: NAMES_MAX }, { enabled }).data;
  const found = newest?.data.find((one) => one.id === id);
  const other = useQuery({
    // Not below the path of the list: with each event all of them would be read anew.
    queryKey: ['named payment method', id],
    queryFn: ({ signal }) => inTurn(() => readForName(id, signal)),
    enabled: enabled && newest !== undefined && found === undefined,
    staleTime: NAME_KEPT_MS,
    retry: (failures, error) =>
      isApiError(error) && error.status === TOO_MANY_REQUESTS && failures < TRIES_MAX,
  });
  return found ?? other.data ?? undefined;
}

/** Stands for an id in a list: the name of the payment method, and the id under the pointer, or beside it where people know that. */
export function MethodName({ id }: { id: string }) {
  const method = useNamed(id);
  if (method === undefined) return <span className="ui-id">{id}</span>;
  if (!goesByItsId(method)) return <span title={id}>{nameOf(method)}</span>;
  return (
    <>
      {nameOf(method)} <span className="ui-id ui-beside">{id}</span>
    </>
  );
}

/** The name leads to the payment method, unless that was deleted; its id stands beside it. */
export function MethodLink({ id }: { id: string }) {
  const method = useObject<PaymentMethod>(`${LIST_PATH}/${encodeURIComponent(id)}`);
  const isGone = isApiError(method.error) && method.error.status === NOT_FOUND;
  const deleted = useNamed(id, isGone);
  const known = method.data ?? deleted;
  if (known === undefined) return <span className="ui-id">{id}</span>;
  return (
    <>
      {isGone ? (
        words.nameOfDeleted(nameOf(known))
      ) : (
        <Anchor component={Link} to="/payment-methods/$id" params={{ id } as never} inherit>
          {nameOf(known)}
        </Anchor>
      )}{' '}
      <span className="ui-beside">
        <CopyText text={id} label={words.id} />
      </span>
    </>
  );
}
