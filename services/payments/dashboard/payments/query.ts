import type { Query, Search } from '@libs/ui';

/** The filters of the address as the API takes them; `metadata` is one `key=value`. A key alone looks for it without a value. */
export function paymentQuery({ metadata = '', ...rest }: Search): Query {
  if (metadata === '') return rest;
  const [key = '', ...values] = metadata.split('=');
  return { ...rest, [`metadata[${key.trim()}]`]: values.join('=').trim() };
}
