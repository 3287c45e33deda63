const formats = new Map<string, Intl.NumberFormat>();
const FRACTION_DIGITS = 2;

function formatOf(currency: string): Intl.NumberFormat {
  let format = formats.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat('en-US', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
    formats.set(currency, format);
  }
  return format;
}

/** Minor units as people read them: 123456 is $1,234.56. Exact for every amount that is a safe integer. */
export function formatAmount(minor: number, currency = 'USD'): string {
  return formatOf(currency.toUpperCase()).format(minor / 10 ** FRACTION_DIGITS);
}

/** Commas part thousands and nothing else: who writes `25,00` means 25 and must not send 2,500. */
const TYPED = /^(\d{1,13}|\d{1,3}(?:,\d{3}){1,3})(?:\.(\d{0,2}))?$/;

/** `12.5`, `$1,234.56` and `12` as minor units; nothing where it is no amount. */
export function parseAmount(text: string): number | undefined {
  const [, whole, fraction = ''] = TYPED.exec(text.replaceAll(/[\s$]/g, '')) ?? [];
  if (whole === undefined) return undefined;
  return (
    Number(whole.replaceAll(',', '')) * 10 ** FRACTION_DIGITS + Number(fraction.padEnd(FRACTION_DIGITS, '0'))
  );
}

export function Amount({ minor, currency = 'USD' }: { minor: number; currency?: string }) {
  return <span className="ui-number">{formatAmount(minor, currency)}</span>;
}
