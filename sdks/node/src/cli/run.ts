import { Payments } from '../client.ts';
import { VERSION } from '../version.ts';
import { readArguments } from './arguments.ts';
import {
  type Command,
  type Connection,
  type Context,
  type Terminal,
  textValue,
  UsageError,
} from './command.ts';
import { completion, suggest } from './completion.ts';
import { eventCommands } from './events.ts';
import { exitCodes } from './exit-codes.ts';
import { explain } from './failure.ts';
import { globalOptions, helpOf, helpOfGroup, overview, usageOf } from './help.ts';
import { listen } from './listen.ts';
import { login } from './login.ts';
import { UnknownOutcomeError } from './paying-once.ts';
import { paymentCommands } from './payments.ts';
import { programOf } from './program.ts';
import { sandboxCommands } from './sandbox.ts';
import { readKept, warningAboutFile } from './settings-file.ts';

const commands: readonly Command[] = [
  login,
  listen,
  ...paymentCommands,
  ...eventCommands,
  ...sandboxCommands,
  completion,
];

/** Runs one command line; answers with its exit code, and prints one line for whatever goes wrong. */
export async function run(typed: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(typed, terminal);
  } catch (error) {
    if (terminal.signal.aborted) {
      if (error instanceof UnknownOutcomeError) terminal.err(`Interrupted. ${error.hint}`);
      return exitCodes.interrupted;
    }
    const { line, code } = explain(error, programOf(terminal.env));
    terminal.err(line);
    return code;
  }
}

const asksForHelp = (word: string | undefined) => word === '--help' || word === '-h';

async function dispatch(words: readonly string[], terminal: Terminal): Promise<number> {
  const program = programOf(terminal.env);
  const typed = inUsualOrder(words);
  const [first] = typed;
  if (first === '__complete') {
    for (const word of suggest(commands, typed.slice(1))) terminal.out(word);
    return exitCodes.ok;
  }
  if (first === '--version' || first === '-v' || first === 'version') {
    terminal.out(VERSION);
    return exitCodes.ok;
  }
  if (first === undefined || asksForHelp(first)) {
    terminal.out(overview(program, commands));
    return exitCodes.ok;
  }
  const group = commands.filter((command) => command.words.length > 1 && command.words[0] === first);
  if (group.length > 0 && asksForHelp(typed[1])) {
    terminal.out(helpOfGroup(program, group));
    return exitCodes.ok;
  }
  const command = find(typed);
  const { values, positionals } = readArguments(typed.slice(wordsTyped(command, typed)), {
    ...command.options,
    ...globalOptions,
  });
  if (values.help) {
    terminal.out(helpOf(program, command));
    return exitCodes.ok;
  }
  const most = command.positionals.length + (command.optional === undefined ? 0 : 1);
  if (positionals.length < command.positionals.length || positionals.length > most) {
    throw new UsageError(`It is: ${usageOf(program, command)}`);
  }
  let connection: Connection | undefined;
  const connect = () => {
    connection ??= readConnection(terminal, textValue(values, 'url'));
    return connection;
  };
  let client: Payments | undefined;
  const context: Context = {
    ...terminal,
    values,
    positionals,
    json: values.json === true,
    connection: connect,
    client() {
      client ??= new Payments(connect());
      return client;
    },
  };
  return (await command.run(context)) ?? exitCodes.ok;
}

/** `help create` is `create --help`, and options of every command may also stand before it. */
function inUsualOrder(words: readonly string[]): readonly string[] {
  if (words[0] === 'help') return [...words.slice(1), '--help'];
  let at = 0;
  while (words[at] === '--json' || words[at] === '--url' || words[at]?.startsWith('--url=')) {
    at += words[at] === '--url' ? 2 : 1;
  }
  return at >= words.length ? words : [...words.slice(at), ...words.slice(0, at)];
}

/** The program is called `payments`, so `payments create` does what `payments payments create` does. */
function wordsTyped(command: Command, typed: readonly string[]): number {
  return typed[0] === command.words[0] ? command.words.length : 1;
}

function find(typed: readonly string[]): Command {
  const exact = commands.find(({ words }) => words.every((word, index) => typed[index] === word));
  const short = paymentCommands.find(({ words }) => words[1] === typed[0]);
  const found = exact ?? short;
  if (found !== undefined) return found;
  const group = commands.filter(({ words }) => words[0] === typed[0]);
  if (group.length === 0) throw new UsageError(`There is no command ${JSON.stringify(typed[0])}`);
  throw new UsageError(`${typed[0]} needs one of: ${group.map(({ words }) => words[1]).join(', ')}`);
}

/** The environment comes before what `login` kept, so that one command can be run with another key. */
function readConnection({ env, err }: Terminal, url: string | undefined): Connection {
  const kept = readKept(env);
  const apiKey = env.PAYMENTS_API_KEY || kept.api_key || '';
  const warning = apiKey === kept.api_key ? warningAboutFile(env) : undefined;
  if (warning !== undefined) err(warning);
  return { apiKey, baseUrl: url ?? (env.PAYMENTS_API_URL || kept.base_url) };
}
