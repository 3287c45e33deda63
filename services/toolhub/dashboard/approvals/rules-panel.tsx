import { Panel, QueryView } from '@libs/ui';
import { MultiSelect, Stack, Switch } from '@mantine/core';
import { useObject } from '../api/client.ts';
import { platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { useTools } from '../tools/tool.ts';
import { type ApprovalRules, RULES_PATH } from './approval.ts';
import { nameTools, toolsWith, useRuleChanges } from './rule-changes.ts';

const words = texts.approvals;

export function RulesPanel() {
  const rules = useObject<ApprovalRules>(RULES_PATH);
  return (
    <Panel title={words.rules} lead={words.rulesLead}>
      <QueryView query={rules}>{(current) => <Rules stored={current} />}</QueryView>
    </Panel>
  );
}

/** Beside what is chosen it would only take room. */
const placeholderOf = (chosen: readonly string[]) =>
  chosen.length === 0 ? { placeholder: words.noTools } : {};

function Rules({ stored }: { stored: ApprovalRules }) {
  const tools = useTools();
  const choices = (tools.data?.data ?? [])
    .filter((tool) => tool.class !== 'R' && tool.class !== 'I')
    .flatMap(({ name, title, platform }) =>
      platform === null ? [] : [{ value: name, label: `${platformTitle(platform)}: ${title}` }],
    );
  const { rules, change } = useRuleChanges(stored);
  const named = (value: boolean) => toolsWith(rules.tools, value);
  const nameAs = (value: boolean, chosen: readonly string[]) =>
    change(nameTools(value, { before: named(value), chosen }));
  return (
    <Stack>
      <Switch
        label={words.sends}
        description={words.sendsHint}
        checked={rules.send}
        onChange={({ currentTarget: { checked } }) => change((now) => ({ ...now, send: checked }))}
      />
      <Switch
        label={words.deletes}
        description={words.deletesHint}
        checked={rules.delete}
        onChange={({ currentTarget: { checked } }) => change((now) => ({ ...now, delete: checked }))}
      />
      <MultiSelect
        label={words.alwaysAsk}
        data={choices}
        value={named(true)}
        {...placeholderOf(named(true))}
        onChange={(chosen) => nameAs(true, chosen)}
        searchable
      />
      <MultiSelect
        label={words.neverAsk}
        data={choices}
        value={named(false)}
        {...placeholderOf(named(false))}
        onChange={(chosen) => nameAs(false, chosen)}
        searchable
      />
    </Stack>
  );
}
