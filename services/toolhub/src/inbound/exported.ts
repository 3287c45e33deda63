import { EXPORTED_MESSAGES } from '../connectors/telegram/inbound.ts';
import type { ExportedTable } from '../data-export/exported-table.ts';

/** What was received for a customer, and what became of messages that were sent. */
export const RECEIVED_TABLES: readonly ExportedTable[] = [
  {
    table: 'whatsapp_messages',
    key: { phone_number_id: 'text', message_id: 'text' },
    columns: ['contact', 'contact_name', 'sent_at', 'received_at', 'message'],
  },
  {
    table: 'whatsapp_contacts',
    key: { phone_number_id: 'text', contact: 'text' },
    columns: ['name', 'last_message_id', 'last_message_at'],
  },
  {
    table: 'whatsapp_statuses',
    key: { phone_number_id: 'text', message_id: 'text', status: 'text' },
    columns: ['at'],
  },
  EXPORTED_MESSAGES,
  {
    table: 'inbound_messages',
    key: { platform: 'text', account: 'text', message_key: 'text' },
    columns: ['channel', 'sent_at', 'received_at', 'message'],
  },
];
