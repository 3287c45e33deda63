import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Payments } from '../client.ts';
import { type Command, type Context, textValue, UsageError } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { readKept, settingsPath, writeKept } from './settings-file.ts';

const KEY_LENGTH_MAX = 512;

export const login: Command = {
  words: ['login'],
  summary: 'Keep an API key in a file that only you may read',
  positionals: [],
  options: {
    key: { type: 'string', value: 'key', help: 'the key; better typed when asked, or piped in' },
  },
  async run(context) {
    const key = (textValue(context.values, 'key') ?? (await askForKey(context))).trim();
    if (key === '') throw new UsageError('No key was given');
    const url =
      textValue(context.values, 'url') ?? (context.env.PAYMENTS_API_URL || readKept(context.env).base_url);
    // Tried before it is kept: a mistyped key shows now, not at the first payment.
    await new Payments({ apiKey: key, baseUrl: url, maxRetries: 1 }).payments
      .list({ limit: 1 }, { signal: context.signal })
      .page();
    writeKept(context.env, { api_key: key, ...(url === undefined ? {} : { base_url: url }) });
    const mode = key.startsWith('sk_live_') ? 'live' : 'test';
    context.out(`Logged in, ${mode} mode. The key is kept in ${settingsPath(context.env)}.`);
    return exitCodes.ok;
  },
};

async function askForKey({ stdin, err, signal }: Context): Promise<string> {
  if (!stdin.isTTY) {
    let text = '';
    for await (const chunk of stdin) {
      text += String(chunk);
      if (text.length > KEY_LENGTH_MAX) throw new UsageError('What was piped in is no key');
    }
    return text;
  }
  // What is typed is not shown: somebody may be looking, and the screen may be kept.
  err('API key (not shown while you type):');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: silent, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      const stop = () => reject(new UsageError('No key was given'));
      reader.once('line', resolve);
      reader.once('SIGINT', stop);
      // Ctrl-D, or a terminal that is closed.
      reader.once('close', stop);
      signal.addEventListener('abort', stop, { once: true });
    });
  } finally {
    reader.close();
  }
}
