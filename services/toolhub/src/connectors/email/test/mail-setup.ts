import { setTimeout as sleep } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import type { Connector, ToolContext } from '../../connector.ts';
import { runTool } from '../../test/tool-runner.ts';
import type { EmailCredential } from '../credential.ts';
import { connectImap } from '../imap/connection.ts';
import type { MessageSummary } from '../mime/message.ts';

/** Two accounts on one server; everything that follows only knows the tools. */
export interface MailSetup {
  connector: Connector;
  alice: ToolContext<EmailCredential>;
  bob: ToolContext<EmailCredential>;
  /** A folder with a name outside of ASCII that exists on the server. */
  oddFolder: string;
  /** Names and searches that the server itself falls over; they are tried on the others. */
  serverFailsOn?: readonly string[];
}

export const ARRIVAL_MS_MAX = 10_000;
export const ARRIVAL_STEP_MS = 50;

export type Page<Item> = { items: Item[]; next_cursor: string | null };

export function callerOf(connector: Connector) {
  return <Result>(name: string, args: Record<string, unknown>, context: ToolContext<EmailCredential>) =>
    runTool<Result>(connector, name, { args, context: context as ToolContext });
}

/** Mail takes its way through several servers; this looks until it is there. */
export async function findArrived(
  connector: Connector,
  context: ToolContext<EmailCredential>,
  wanted: string | Record<string, unknown>,
): Promise<MessageSummary> {
  const call = callerOf(connector);
  for (let waitedMs = 0; waitedMs < ARRIVAL_MS_MAX; waitedMs += ARRIVAL_STEP_MS) {
    const args = typeof wanted === 'string' ? { subject: wanted } : wanted;
    const page = await call<Page<MessageSummary>>('email_search_messages', args, context);
    const [first] = page.items;
    if (first !== undefined) return first;
    await sleep(ARRIVAL_STEP_MS);
  }
  throw new Error(`${JSON.stringify(wanted)} did not arrive`);
}

/** Puts a message into a folder as it is, byte by byte. */
export async function appendRaw(
  context: ToolContext<EmailCredential>,
  { folder, raw, flags = [] }: { folder: string; raw: string | Buffer; flags?: string[] },
): Promise<void> {
  const client: ImapFlow = await connectImap(context.credential.imap, context);
  await client.append(folder, typeof raw === 'string' ? Buffer.from(raw, 'latin1') : raw, flags);
  await client.logout();
}

export function plainMail(subject: string, body = 'hello'): string {
  return `From: Someone <someone@else.test>\r\nTo: bob@mail.test\r\nSubject: ${subject}\r\nMessage-ID: <${Math.random()}@else.test>\r\nDate: Mon, 02 Nov 2026 10:00:00 +0100\r\n\r\n${body}\r\n`;
}
