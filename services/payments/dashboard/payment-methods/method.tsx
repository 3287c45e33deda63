import { CopyText, inItsDirection, isApiError } from '@libs/ui';
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TEST_HOLDER_NAME } from '../../src/payment-methods/method.ts';
import { client, useList, useObject } from '../api/client.ts';
import type { PaymentMethod } from '../api/types.ts';
import { texts } from '../texts.ts';
import { inTurn } from './in-turn.ts';

const words = texts.methods;
const LIST_PATH = '/v1/payment_methods';
/** As many names as one page of the API brings; what is older is asked for by its id. */
const NAMES_MAX = 100;
const NAME_KEPT_MS = 10 * 60_000;
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

/** For its name, which hardly ever changes; nothing while it is not known, and of one that was deleted. */
function useNamed(id: string): PaymentMethod | undefined {
  const newest = useList<PaymentMethod>(LIST_PATH, { limit: NAMES_MAX }).data;
  const found = newest?.data.find((one) => one.id === id);
  const older = useQuery({
    // Not below the path of the list: with each event all of them would be read anew.
    queryKey: ['named payment method', id],
    queryFn: ({ signal }) =>
      inTurn(() => client.get<PaymentMethod>(`${LIST_PATH}/${encodeURIComponent(id)}`, { signal })),
    enabled: found === undefined && Boolean(newest?.next_cursor),
    staleTime: NAME_KEPT_MS,
    retry: (failures, error) =>
      isApiError(error) && error.status === TOO_MANY_REQUESTS && failures < TRIES_MAX,
  });
  return found ?? older.data;
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

/** The name leads to the payment method; its id stands beside it. */
export function MethodLink({ id }: { id: string }) {
  const method = useObject<PaymentMethod>(`${LIST_PATH}/${encodeURIComponent(id)}`);
  if (method.data === undefined) return <span className="ui-id">{id}</span>;
  return (
    <>
      <Anchor component={Link} to="/payment-methods/$id" params={{ id } as never} inherit>
        {nameOf(method.data)}
      </Anchor>{' '}
      <span className="ui-beside">
        <CopyText text={id} label={words.id} />
      </span>
    </>
  );
}
