import { Panel, QueryView, toast } from '@libs/ui';
import { MultiSelect, Stack, Switch } from '@mantine/core';
import { client, refresh, useObject } from '../api/client.ts';
import { platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { useTools } from '../tools/tool.ts';
import { type ApprovalRules, RULES_PATH } from './approval.ts';

const words = texts.approvals;

export function RulesPanel() {
  const rules = useObject<ApprovalRules>(RULES_PATH);
  return (
    <Panel title={words.rules} lead={words.rulesLead}>
      <QueryView query={rules}>{(current) => <Rules rules={current} />}</QueryView>
    </Panel>
  );
}

/** Beside what is chosen it would only take room. */
const placeholderOf = (chosen: readonly string[]) =>
  chosen.length === 0 ? { placeholder: words.noTools } : {};

function Rules({ rules }: { rules: ApprovalRules }) {
  const tools = useTools();
  const choices = (tools.data?.data ?? [])
    .filter((tool) => tool.class !== 'R' && tool.class !== 'I')
    .flatMap(({ name, title, platform }) =>
      platform === null ? [] : [{ value: name, label: `${platformTitle(platform)}: ${title}` }],
    );
  const change = async (edit: (current: ApprovalRules) => Partial<ApprovalRules>) => {
    try {
      // As they are now: another window may have changed the other ones since this one read them.
      const current = await client.get<ApprovalRules>(RULES_PATH);
      await client.put(RULES_PATH, { ...current, ...edit(current) });
      toast.done(words.rulesSaved);
    } catch (error) {
      toast.problem(error);
    }
    await refresh(RULES_PATH);
  };
  const named = (value: boolean) => Object.keys(rules.tools).filter((name) => rules.tools[name] === value);
  const withNamed = (value: boolean, chosen: readonly string[]) =>
    change((current) => {
      const others = Object.entries(current.tools).filter(
        ([name, own]) => own !== value && !chosen.includes(name),
      );
      return { tools: Object.fromEntries([...others, ...chosen.map((name) => [name, value] as const)]) };
    });
  return (
    <Stack>
      <Switch
        label={words.sends}
        description={words.sendsHint}
        checked={rules.send}
        onChange={({ currentTarget: { checked } }) => void change(() => ({ send: checked }))}
      />
      <Switch
        label={words.deletes}
        description={words.deletesHint}
        checked={rules.delete}
        onChange={({ currentTarget: { checked } }) => void change(() => ({ delete: checked }))}
      />
      <MultiSelect
        label={words.alwaysAsk}
        data={choices}
        value={named(true)}
        {...placeholderOf(named(true))}
        onChange={(chosen) => void withNamed(true, chosen)}
        searchable
      />
      <MultiSelect
        label={words.neverAsk}
        data={choices}
        value={named(false)}
        {...placeholderOf(named(false))}
        onChange={(chosen) => void withNamed(false, chosen)}
        searchable
      />
    </Stack>
  );
}
