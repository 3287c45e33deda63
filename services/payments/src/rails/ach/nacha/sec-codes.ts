/**
 * Standard entry classes whose entries share the columns of PPD. IAT, ADV and the card classes (POS, SHR, MTE)
 * have records of their own and are refused by name instead of being misread.
 */
export const SEC_CODES = {
  PPD: { remittanceMax: 1, zeroAmounts: false },
  CCD: { remittanceMax: 1, zeroAmounts: true },
  WEB: { remittanceMax: 1, zeroAmounts: false },
  COR: { remittanceMax: 0, zeroAmounts: false },
  CTX: { remittanceMax: 9_999, zeroAmounts: true },
  CIE: { remittanceMax: 1, zeroAmounts: false },
  TEL: { remittanceMax: 0, zeroAmounts: false },
  ARC: { remittanceMax: 0, zeroAmounts: false },
  BOC: { remittanceMax: 0, zeroAmounts: false },
  POP: { remittanceMax: 0, zeroAmounts: false },
  RCK: { remittanceMax: 0, zeroAmounts: false },
  XCK: { remittanceMax: 0, zeroAmounts: false },
} as const satisfies Record<string, { remittanceMax: number; zeroAmounts: boolean }>;

export type SecCode = keyof typeof SEC_CODES;

export function isSecCode(value: string): value is SecCode {
  return Object.hasOwn(SEC_CODES, value);
}
