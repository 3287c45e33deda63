import type { Connector } from './connector.ts';
import { createEmailConnector } from './email/connector.ts';
import { createTelegramConnector } from './telegram/connector.ts';
import { createWhatsappConnector } from './whatsapp/connector.ts';

/** The list of platforms. To add one, write its folder and name it here. */
export function createConnectors(): Connector[] {
  return [createEmailConnector(), createWhatsappConnector(), createTelegramConnector()];
}
