import { type ElementReader, matching } from './element-reader.ts';
import { ROUTING_NUMBER, requireMatch } from './field-checks.ts';

/** A bank in a document, known by its ABA routing number. The element comes with its prefix. */
export function writeAgent(element: `${string}:${string}`, routingNumber: string): string {
  requireMatch(element, routingNumber, ROUTING_NUMBER);
  const prefix = element.slice(0, element.indexOf(':'));
  return (
    `<${element}><${prefix}:FinInstnId><${prefix}:ClrSysMmbId>` +
    `<${prefix}:MmbId>${routingNumber}</${prefix}:MmbId>` +
    `</${prefix}:ClrSysMmbId></${prefix}:FinInstnId></${element}>`
  );
}

export function readAgent(document: ElementReader, element: string): string {
  return document.group(element, (agent) =>
    agent.group('FinInstnId', (institution) =>
      institution.group('ClrSysMmbId', (member) => member.text('MmbId', matching(ROUTING_NUMBER))),
    ),
  );
}
