import { type Command, UsageError } from './command.ts';
import { globalOptions } from './help.ts';

/** Each asks the program itself for the words that fit, so that it never grows old. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_payments() {
  local words
  words="$(payments __complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _payments payments`,
  zsh: `#compdef payments
_payments() {
  local -a found
  found=(\${(f)"$(payments __complete "\${(@)words[2,CURRENT-1]}" 2>/dev/null)"})
  compadd -a found
}
compdef _payments payments`,
  fish: `complete -c payments -f -a '(payments __complete (commandline -opc)[2..] 2>/dev/null)'`,
};

export const completion: Command = {
  words: ['completion'],
  summary: 'Print the completion script of a shell: bash, zsh or fish',
  positionals: ['shell'],
  options: {},
  async run({ positionals, out }) {
    const script = scripts[positionals[0] as string];
    if (script === undefined) throw new UsageError('completion knows bash, zsh and fish');
    out(script);
    return undefined;
  },
};

/** The words that may follow these. */
export function suggest(commands: readonly Command[], typed: readonly string[]): string[] {
  const last = typed.at(-1) ?? '';
  const words = typed.filter((word) => !word.startsWith('-'));
  const command =
    commands.find(({ words: own }) => own.every((word, index) => words[index] === word)) ??
    commands.find(({ words: own }) => own[0] === 'payments' && own[1] === words[0]);
  if (command === undefined) {
    const next = commands
      .filter(({ words: own }) => words.every((word, index) => own[index] === word))
      .map(({ words: own }) => own[words.length] as string);
    return [...new Set(next)];
  }
  const options = { ...command.options, ...globalOptions };
  const open = last.startsWith('--') ? options[last.slice(2)] : undefined;
  if (open?.type === 'string') return [...(open.choices ?? [])];
  if (command.words[0] === 'completion') return Object.keys(scripts);
  return Object.keys(options)
    .map((name) => `--${name}`)
    .filter((name) => !typed.includes(name));
}
