import type { Command, Option } from './command.ts';

export const globalOptions: Readonly<Record<string, Option>> = {
  json: { type: 'boolean', help: 'print JSON instead of a table' },
  url: {
    type: 'string',
    value: 'address',
    help: 'of the server; otherwise PAYMENTS_API_URL or the one of login',
  },
  help: { type: 'boolean', short: 'h', help: 'show this' },
};

function optionLines(options: Readonly<Record<string, Option>>): string[] {
  const lines = Object.entries(options).map(([name, option]) => {
    const value = option.type === 'string' ? ` <${option.value ?? 'value'}>` : '';
    const choices = option.choices === undefined ? '' : ` (${option.choices.join(', ')})`;
    const short = option.short === undefined ? '' : `, -${option.short}`;
    return [`  --${name}${short}${value}`, `${option.help}${choices}`] as const;
  });
  const width = Math.max(...lines.map(([left]) => left.length)) + 2;
  return lines.map(([left, right]) => `${left.padEnd(width)}${right}`);
}

function commandLines(program: string, commands: readonly Command[]): string[] {
  const usages = commands.map((command) => usageOf(program, command));
  const width = Math.max(...usages.map((usage) => usage.length)) + 2;
  return commands.map(({ summary }, index) => `  ${usages[index]?.padEnd(width)}${summary}`);
}

/** The program is called `payments`, so its commands for payments are shown without that word; with it they work, too. */
export function usageOf(program: string, command: Command): string {
  const places = command.positionals.map((name) => `<${name}>`);
  const optional = command.optional === undefined ? [] : [`[${command.optional}]`];
  const words = command.words[0] === 'payments' ? command.words.slice(1) : command.words;
  return [program, ...words, ...places, ...optional].join(' ');
}

export function helpOf(program: string, command: Command): string {
  return [
    command.summary,
    '',
    `Usage: ${usageOf(program, command)} [options]`,
    '',
    ...optionLines({ ...command.options, ...globalOptions }),
  ].join('\n');
}

/** Of the commands that share their first word. */
export function helpOfGroup(program: string, commands: readonly Command[]): string {
  return [...commandLines(program, commands), '', ...optionLines(globalOptions)].join('\n');
}

export function overview(program: string, commands: readonly Command[]): string {
  return [
    'The command line of the Payments API.',
    '',
    ...commandLines(program, commands),
    '',
    ...optionLines(globalOptions),
    '',
    'Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 key refused, 4 not found, 5 no answer,',
    '            6 the payment ended otherwise, 7 waited too long, 130 interrupted (listen: 0)',
  ].join('\n');
}
