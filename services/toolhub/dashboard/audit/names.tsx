import { breakable, formatAmount } from '@libs/ui';
import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList, useObject } from '../api/client.ts';
import { INVOICES_PATH, type Invoice, monthName, type Plan } from '../billing/invoice.ts';
import { platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { useTools } from '../tools/tool.ts';
import type { AuditEntry } from './entry.tsx';

const words = texts.audit;
const NAMES_MAX = 100;

/** What has no name, or had one and is gone: the page where such things are, under what they are. */
const kinds = [
  { prefix: 'dlq_', name: words.theDeadLetter, page: '/webhooks' },
  { prefix: 'tok_', name: words.theToken, page: '/tokens' },
  { prefix: 'ses_', name: words.theSession, page: '/settings' },
  { prefix: 'psk_', name: words.thePasskey, page: '/settings' },
] as const;

interface Named {
  id: string;
  name: string;
}

export interface Names {
  tools: ReadonlyMap<string, string>;
  tokens: ReadonlyMap<string, string>;
  clients: ReadonlyMap<string, string>;
  invoices: ReadonlyMap<string, string>;
  plans: ReadonlyMap<string, string>;
}

/** What people call the things that the log has ids of; assistants that are gone have their names in what they did. */
export function useNames(entries: readonly AuditEntry[]): Names {
  const tools = useTools().data?.data ?? [];
  const tokens = useList<Named>('/api/tokens', { limit: NAMES_MAX }).data?.data ?? [];
  const clients = useList<Named>('/api/clients', { limit: NAMES_MAX }).data?.data ?? [];
  const isAboutInvoices = entries.some(({ target }) => target?.startsWith('inv_'));
  const invoices =
    useList<Invoice>(INVOICES_PATH, { limit: NAMES_MAX }, { enabled: isAboutInvoices }).data?.data ?? [];
  const isAboutPlans = entries.some(({ action }) => action === 'plan.changed');
  const plans = useObject<{ data: Plan[] }>('/api/plans', { enabled: isAboutPlans }).data?.data ?? [];
  return {
    plans: new Map(plans.map(({ id, name }) => [id, name])),
    invoices: new Map(
      invoices.map(({ id, number, period }) => [id, words.invoice(number, monthName(period))]),
    ),
    tools: new Map(tools.map(({ name, title }) => [name, title])),
    tokens: new Map(tokens.map(({ id, name }) => [id, name])),
    clients: new Map([
      ...entries.flatMap(({ actor: { id, name } }): [string, string][] =>
        name === undefined ? [] : [[id, name]],
      ),
      ...clients.map(({ id, name }): [string, string] => [id, name]),
    ]),
  };
}

/** Who it was; the id is what one reads when one points at it. */
export function ActorName({ actor, names }: { actor: AuditEntry['actor']; names: Names }) {
  return <span title={actor.id}>{actorWords(actor, names)}</span>;
}

function actorWords({ type, id, name }: AuditEntry['actor'], names: Names): string {
  const token = type === 'token' ? names.tokens.get(id) : undefined;
  if (token !== undefined) return words.token(token);
  return name === undefined ? (words.actors[type] ?? type) : words.assistant(name);
}

/** A tool by its title, with the name that programs use for it. */
export function ToolName({ name, names }: { name: string; names: Names }) {
  const title = names.tools.get(name);
  return (
    <div>
      <Anchor component={Link} to="/tools/$name" params={{ name } as never} size="sm">
        {title ?? name}
      </Anchor>
      {title === undefined ? null : (
        <Text size="xs" c="dimmed" className="ui-id">
          {breakable(name)}
        </Text>
      )}
    </div>
  );
}

/** What it was done to, by its name, leading there where there is a page of it. */
export function TargetName({ entry, names }: { entry: AuditEntry; names: Names }) {
  const { action, target } = entry;
  if (target === null) return '';
  if (action.startsWith('tool.')) return <ToolName name={target} names={names} />;
  if (action.startsWith('credential.') || action.startsWith('platform.switched'))
    return target in texts.platforms ? (
      <Anchor component={Link} to="/connections/$platform" params={{ platform: target } as never} size="sm">
        {platformTitle(target)}
      </Anchor>
    ) : (
      target
    );
  if (target.startsWith('apr_'))
    return (
      <Anchor component={Link} to="/approvals" search={{ id: target } as never} size="sm">
        {words.theCall}
      </Anchor>
    );
  if (names.tokens.has(target))
    return (
      <Anchor component={Link} to="/tokens" size="sm">
        {names.tokens.get(target)}
      </Anchor>
    );
  if (names.clients.has(target))
    return (
      <Anchor component={Link} to="/assistants" size="sm">
        {names.clients.get(target)}
      </Anchor>
    );
  if (target.startsWith('inv_'))
    return (
      <Anchor component={Link} to="/billing" search={{ invoice: target } as never} size="sm">
        {names.invoices.get(target) ?? words.theInvoice}
      </Anchor>
    );
  if (action === 'plan.cap_changed')
    return (
      <Anchor component={Link} to="/billing" size="sm">
        {formatAmount(Number(target))}
      </Anchor>
    );
  if (action === 'plan.changed')
    return (
      <Anchor component={Link} to="/billing" size="sm">
        {names.plans.get(target) ?? target}
      </Anchor>
    );
  const kind = kinds.find(({ prefix }) => target.startsWith(prefix));
  if (kind !== undefined)
    return (
      <Anchor component={Link} to={kind.page} size="sm" title={target}>
        {kind.name}
      </Anchor>
    );
  return <span className="ui-id">{target}</span>;
}
