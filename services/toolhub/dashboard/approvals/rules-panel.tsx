import { Panel, QueryView, toast } from '@libs/ui';
import { MultiSelect, Stack, Switch } from '@mantine/core';
import { client, refresh, useObject } from '../api/client.ts';
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

function Rules({ rules }: { rules: ApprovalRules }) {
  const tools = useTools();
  const names = (tools.data?.data ?? [])
    .filter((tool) => tool.platform !== null && tool.class !== 'R' && tool.class !== 'I')
    .map(({ name }) => name);
  const change = async (changes: Partial<ApprovalRules>) => {
    try {
      await client.put(RULES_PATH, { ...rules, ...changes });
      toast.done(words.rulesSaved);
    } catch (error) {
      toast.problem(error);
    }
    await refresh(RULES_PATH);
  };
  const named = (value: boolean) => Object.keys(rules.tools).filter((name) => rules.tools[name] === value);
  const withNamed = (value: boolean, chosen: readonly string[]) => {
    const others = Object.entries(rules.tools).filter(
      ([name, own]) => own !== value && !chosen.includes(name),
    );
    return change({
      tools: Object.fromEntries([...others, ...chosen.map((name) => [name, value] as const)]),
    });
  };
  return (
    <Stack>
      <Switch
        label={words.sends}
        description={words.sendsHint}
        checked={rules.send}
        onChange={(event) => void change({ send: event.currentTarget.checked })}
      />
      <Switch
        label={words.deletes}
        description={words.deletesHint}
        checked={rules.delete}
        onChange={(event) => void change({ delete: event.currentTarget.checked })}
      />
      <MultiSelect
        label={words.alwaysAsk}
        data={names}
        value={named(true)}
        onChange={(chosen) => void withNamed(true, chosen)}
        searchable
      />
      <MultiSelect
        label={words.neverAsk}
        data={names}
        value={named(false)}
        onChange={(chosen) => void withNamed(false, chosen)}
        searchable
      />
    </Stack>
  );
}
