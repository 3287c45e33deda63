import { type ElementReader, matching } from './element-reader.ts';
import { ROUTING_NUMBER, requireMatch } from './field-checks.ts';

type AgentElement = `${string}:${string}`;

/** Each message names four banks, and most messages the same ones. */
const BANKS_KEPT_MAX = 1_000;
const written = new Map<AgentElement, Map<string, string>>();

/** A bank in a document, known by its ABA routing number. The element comes with its prefix. */
export function writeAgent(element: AgentElement, routingNumber: string): string {
  const banks = banksOf(element);
  const known = banks.get(routingNumber);
  if (known !== undefined) return known;
  const agent = writeAgentAnew(element, routingNumber);
  banks.set(routingNumber, agent);
  return agent;
}

function banksOf(element: AgentElement): Map<string, string> {
  const known = written.get(element);
  if (known && known.size < BANKS_KEPT_MAX) return known;
  const banks = new Map<string, string>();
  written.set(element, banks);
  return banks;
}

function writeAgentAnew(element: AgentElement, routingNumber: string): string {
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
