import { ConnectorError } from '../connector.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Reads a vendor's JSON: what must be there is asserted in the vendor's name, what may be missing becomes null. */
export interface Shape {
  object(value: unknown): Fields;
  list(value: unknown): readonly unknown[];
  text(value: unknown): string;
  integer(value: unknown): number;
  /** What to throw for an answer that is not what the vendor documents. */
  wrong(): ConnectorError;
}

export function shapeOf(title: string): Shape {
  function wrong(): ConnectorError {
    return new ConnectorError(
      'platform_unavailable',
      `${title} sent an answer of another shape than it documents`,
      // Only a success is looked at so closely: the vendor may well have done what it was asked for.
      { outcomeOpen: true },
    );
  }
  return {
    wrong,
    object(value) {
      if (isFields(value)) return value;
      throw wrong();
    },
    list(value) {
      if (Array.isArray(value)) return value;
      throw wrong();
    },
    text(value) {
      if (typeof value === 'string') return value;
      throw wrong();
    },
    integer(value) {
      if (Number.isSafeInteger(value)) return value as number;
      throw wrong();
    },
  };
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object, or one without fields: for parts that a vendor may leave out. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function countOrNull(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}

/** Vendors write numbers too large for a double as text, and some write either. */
export function idOrNull(value: unknown): string | null {
  return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : null;
}
