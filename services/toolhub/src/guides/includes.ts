import { errorsMarkdown, markdownTable } from '@libs/docs';
import { THRESHOLDS_PERCENT } from '../billing/plan.ts';
import type { FailureCode } from '../calls/result.ts';
import type { Connector, ConnectorAuth, ToolClass } from '../connectors/connector.ts';
import { errors } from '../errors.ts';
import { EVENT_TYPES, type EventType } from '../events/event.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../invoices/states.ts';
import { scopeTexts } from '../oauth/scope-texts.ts';
import { annotationsOf } from '../tools/tool.ts';
import { deliveryRules } from '../webhooks/rules.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;

const asCode = (text: string) => `\`${text}\``;

/** What each event tells; one that is new does not compile until somebody has said it. */
const eventMeanings: Readonly<Record<EventType, string>> = {
  'whatsapp.message.received': 'Somebody wrote to your WhatsApp number.',
  'whatsapp.message.status': 'A message that you sent was delivered, read or refused.',
  'telegram.message.received': 'Somebody wrote to your Telegram bot.',
  'slack.message.received': 'Somebody wrote in a Slack channel that your app can see.',
  'discord.message.received':
    'Somebody used your Discord app: a command, a button or a form. Messages in channels are not told.',
  'credential.expiring': 'An account will soon need to be connected again.',
  'credential.expired': 'An account needs to be connected again.',
  'credential.recovered': 'It works again.',
  'usage.threshold': 'A share of the month’s calls is used up.',
  'invoice.created': 'There is a new invoice.',
  'tool.call.failed': 'A call of a tool failed.',
  'webhook.test': 'You asked for a test.',
};

const classMeanings: Readonly<Record<ToolClass, string>> = {
  R: 'reads, and changes nothing',
  W: 'sends or publishes something new',
  I: 'changes something; a repeat changes nothing more',
  U: 'overwrites something',
  D: 'deletes something',
};

const failureMeanings: Readonly<Record<FailureCode, string>> = {
  limit_exceeded: 'The calls of the month are used up. `resets_at` and `upgrade_url` say what to do.',
  not_connected: 'No account of this platform is connected. `connect_url` leads to it.',
  token_expired: 'The access has run out. `connect_url` leads to connecting it again.',
  platform_error: 'The platform refused the call, with its own code.',
  rate_limited: 'Too many calls, here or at the platform. `retry_after_seconds` says how long to wait.',
  platform_unavailable:
    'The platform did not answer, or says that it is not available. Where a change may have been done, the message says so: look before it is made again.',
  invalid_arguments:
    'The arguments do not fit the tool; `message` says why. `errors` is there where they do not fit its schema, and names each.',
  address_refused: 'The address of a server is private or may not be reached from here.',
  approval_required: 'A person has to allow the call first. `approval_url` leads to it.',
  approval_denied: 'A person has refused the call.',
  canceled: 'The caller canceled the call.',
  internal_error: 'Something went wrong here.',
};

const authMeanings: Readonly<Record<ConnectorAuth['kind'], string>> = {
  settings: 'settings of your server',
  token: 'a token',
  oauth: 'a token',
};

const invoiceMeanings: Readonly<Record<InvoiceStatus, string>> = {
  open: 'Made, and not sent yet.',
  sent: 'Sent by mail.',
  failed_to_send: 'The mail could not be sent; it is tried again.',
  paid: 'Paid. A total of zero is paid at once.',
  void: 'Withdrawn.',
};

const yes = (is: boolean) => (is ? 'yes' : 'no');

function classTable(): string {
  return markdownTable(
    ['Class', 'A tool of this class', 'Read-only', 'Destructive', 'Idempotent'],
    (Object.keys(classMeanings) as ToolClass[]).map((name) => {
      const hints = annotationsOf(name, { openWorld: true });
      return [
        asCode(name),
        classMeanings[name],
        yes(hints.readOnlyHint),
        yes(hints.destructiveHint),
        yes(hints.idempotentHint),
      ];
    }),
  );
}

function platformTable(connectors: readonly Connector[]): string {
  return markdownTable(
    ['Platform', 'Connected by', 'Tools'],
    connectors.map(({ id, title, auth, tools }) => {
      const ways = [...(auth.providers === undefined ? [] : ['the browser']), authMeanings[auth.kind]];
      return [`${title} (${asCode(id)})`, ways.join(', or '), String(tools.length)];
    }),
  );
}

function toolTables(connectors: readonly Connector[]): string {
  return connectors
    .map(({ title, tools }) => {
      const rows = tools.map((tool) => [asCode(tool.name), tool.title, asCode(tool.class)]);
      return `### ${title}\n\n${markdownTable(['Tool', 'Does', 'Class'], rows)}`;
    })
    .join('\n\n');
}

/** Everything that the guides take from the code, by the name that stands in their `{{…}}`. */
export function toolhubIncludes(connectors: readonly Connector[]): Record<string, string> {
  const table = (head: readonly [string, string], meanings: Readonly<Record<string, string>>) =>
    markdownTable(
      head,
      Object.entries(meanings).map(([name, meaning]) => [asCode(name), meaning]),
    );
  const pauses = deliveryRules.retryDelaysMs.map((ms) => `${ms / SECOND_MS} s`);
  return {
    errors: errorsMarkdown(errors),
    scopes: table(['Scope', 'Allows to'], scopeTexts),
    platforms: platformTable(connectors),
    classes: classTable(),
    tools: toolTables(connectors),
    tool_errors: table(['Code', 'Means'], failureMeanings),
    events: markdownTable(
      ['Type', 'Tells'],
      EVENT_TYPES.map((type) => [asCode(type), eventMeanings[type]]),
    ),
    delivery_timeout: `${deliveryRules.timeoutMs / SECOND_MS} seconds`,
    retries: `${pauses.slice(0, -1).join(', ')} and ${pauses.at(-1)}`,
    dead_days: `${(deliveryRules.keepUndeliveredMs ?? 0) / DAY_MS} days`,
    thresholds: THRESHOLDS_PERCENT.map((percent) => `${percent} %`).join(' and '),
    invoice_states: markdownTable(
      ['Status', 'Means'],
      INVOICE_STATUSES.map((status) => [asCode(status), invoiceMeanings[status]]),
    ),
  };
}
