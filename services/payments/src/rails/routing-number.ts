const ROUTING_NUMBER = /^\d{9}$/;
const NOBODYS = '000000000';
const DFI_IDENTIFICATION = /^\d{8}$/;
const WEIGHTS = [3, 7, 1, 3, 7, 1, 3, 7];

/** The ninth digit that makes the eight digits of a bank a routing number. */
function routingCheckDigit(dfi: string): number {
  let sum = 0;
  for (let i = 0; i < 8; i += 1) sum += (dfi.charCodeAt(i) - 48) * (WEIGHTS[i] as number);
  return (10 - (sum % 10)) % 10;
}

/** Nine zeros have a right check digit and are what is left of a field that nobody filled in. */
export function isRoutingNumber(value: string): boolean {
  return (
    ROUTING_NUMBER.test(value) && value !== NOBODYS && routingCheckDigit(value) === value.charCodeAt(8) - 48
  );
}

export function isDfiIdentification(value: string): boolean {
  return DFI_IDENTIFICATION.test(value);
}

/** The eight digits by which files name a bank: the routing number without its check digit. */
export function dfiOf(routingNumber: string): string {
  return routingNumber.slice(0, 8);
}

export function routingNumberOf(dfi: string): string {
  return `${dfi}${routingCheckDigit(dfi)}`;
}
