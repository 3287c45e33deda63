import Format from 'typebox/format';

export const ROUTING_NUMBER_FORMAT = 'aba-routing-number';

/** Makes the checksum a part of the schema, so that a wrong one is named together with every other bad field. */
export function registerFormat(isRoutingNumber: (text: string) => boolean): void {
  Format.Set(ROUTING_NUMBER_FORMAT, isRoutingNumber);
}
