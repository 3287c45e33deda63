import type { Query, Search } from '@libs/ui';

/** The filters of the address as the API takes them; `metadata` is one `key=value`. */
export function paymentQuery({ metadata, ...rest }: Search): Query {
  const [, key, value] = /^([^=]{1,40})=(.*)$/.exec(metadata ?? '') ?? [];
  return { ...rest, ...(key === undefined ? {} : { [`metadata[${key.trim()}]`]: (value ?? '').trim() }) };
}
