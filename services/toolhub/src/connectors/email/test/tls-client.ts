// Run as a process of its own, because NODE_EXTRA_CA_CERTS is read at the start: tries both servers under two names.
import type { ToolContext } from '../../connector.ts';
import { closeTestContexts, runTool, testContext } from '../../test/tool-runner.ts';
import { createEmailConnector } from '../connector.ts';

const [imapPort, smtpPort] = process.argv.slice(2).map(Number) as [number, number];
const connector = createEmailConnector();

/** The name leads to this machine, as a public name would to its server. */
function contextFor(host: string): ToolContext {
  const server = (port: number) => ({ host, port, secure: true, user: 'bob@mail.test', password: 'pass-b' });
  const credential = { imap: server(imapPort), smtp: server(smtpPort), from: 'bob@mail.test' };
  return {
    ...testContext({ platform: 'email', credential, allow: [] }),
    guard: { resolve: async (target) => ({ ...target, address: '127.0.0.1', family: 4, mayBePlain: false }) },
  };
}

async function outcomeOf(host: string, name: string, args: Record<string, unknown>): Promise<string> {
  try {
    await runTool(connector, name, { args, context: contextFor(host) });
    return 'ok';
  } catch (error) {
    const { code, platformCode } = error as { code?: string; platformCode?: string };
    return `${code} ${platformCode}`;
  }
}

const message = { to: ['alice@mail.test'], subject: 'tls', text: 't' };
const outcomes: Record<string, string[]> = {};
for (const host of ['mail.example', 'other.example']) {
  outcomes[host] = [
    await outcomeOf(host, 'email_list_folders', {}),
    await outcomeOf(host, 'email_send_message', message),
  ];
}
await connector.close?.();
await closeTestContexts();
process.stdout.write(JSON.stringify(outcomes));
