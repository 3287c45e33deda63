import { toast } from '@libs/ui';
import { useMutation, useMutationState } from '@tanstack/react-query';
import { client, refresh } from '../api/client.ts';
import { texts } from '../texts.ts';
import { type ApprovalRules, RULES_PATH } from './approval.ts';

/** What is changed of the rules, whatever else they say by then: another change, or another window, may come before it. */
type RulesChange = (rules: ApprovalRules) => ApprovalRules;

const CHANGES = [RULES_PATH, 'changes'];

async function store(change: RulesChange): Promise<void> {
  await client.put(RULES_PATH, change(await client.get<ApprovalRules>(RULES_PATH)));
}

/** The rules with all that was chosen and is not stored yet. */
export function useRuleChanges(stored: ApprovalRules) {
  const { mutate: change } = useMutation({
    mutationKey: CHANGES,
    mutationFn: store,
    // One after another: all rules are stored at once, and the later of two would undo the other.
    scope: { id: RULES_PATH },
    onSuccess: () => toast.done(texts.approvals.rulesSaved),
    onError: (error) => toast.problem(error),
    onSettled: () => refresh(RULES_PATH),
  });
  const waiting = useMutationState({
    filters: { mutationKey: CHANGES, status: 'pending' },
    select: ({ state }) => state.variables as RulesChange,
  });
  return { rules: waiting.reduce((rules, each) => each(rules), stored), change };
}

export const toolsWith = (tools: ApprovalRules['tools'], value: boolean): string[] =>
  Object.keys(tools).filter((name) => tools[name] === value);

/** Gives `value` to the tools that were not among those before, and takes it from those that are chosen no more. */
export function nameTools(
  value: boolean,
  { before, chosen }: Record<'before' | 'chosen', readonly string[]>,
): RulesChange {
  const removed = before.filter((name) => !chosen.includes(name));
  const added = chosen.filter((name) => !before.includes(name)).map((name) => [name, value] as const);
  return (rules) => {
    const kept = Object.entries(rules.tools).filter(
      ([name, own]) => own !== value || !removed.includes(name),
    );
    return { ...rules, tools: Object.fromEntries([...kept, ...added]) };
  };
}
