import { ConnectorError } from '../connector.ts';

const SEGMENT_LENGTH_MAX = 512;

/**
 * A path in which every value is one segment, whatever its characters are: a slash, a dot segment or an encoded slash
 * in an id can never lead to another method or another account.
 */
export function path(literals: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return literals.reduce((text, literal, index) => text + segment(values[index - 1] as string) + literal);
}

function segment(value: string | number): string {
  const text = String(value);
  const isUsable =
    text !== '' && text.length <= SEGMENT_LENGTH_MAX && text.isWellFormed() && !/^\.{1,2}$/.test(text);
  if (!isUsable)
    throw new ConnectorError('invalid_arguments', 'an id in the arguments cannot be part of an address');
  return encodeURIComponent(text);
}
