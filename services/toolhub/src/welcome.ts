import { join } from 'node:path';
import type { Config } from './config.ts';

/** What a person reads after the start; in production no secret is among it. */
export function welcome({ development, secrets, server, mail, dataDir }: Config): string {
  const { publicUrl } = server;
  const lines = [`Toolhub ${publicUrl}`, `  MCP endpoint  ${publicUrl}/mcp`];
  if (development) {
    lines.push(
      `  open this     ${publicUrl}`,
      `  reference     ${publicUrl}/docs/reference`,
      `  admin token   ${secrets.adminToken}`,
    );
    // Whoever signs up is asked to follow a link in a mail, which no server has sent.
    if (mail.smtpUrl === undefined) lines.push(`  mail          ${join(dataDir, 'mail')}`);
    for (const { name, token } of secrets.internalTokens) lines.push(`  internal      ${name} ${token}`);
    const [internal] = secrets.internalTokens;
    if (internal !== undefined) {
      lines.push(
        '',
        'A first call, to paste into another terminal. It answers with the tools that an assistant gets, as JSON.',
        '',
        firstCall(publicUrl, internal.token),
        '',
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function firstCall(publicUrl: string, token: string): string {
  return [
    `  curl -sS ${publicUrl}/mcp \\`,
    `    -H 'Authorization: Bearer ${token}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -H 'Accept: application/json, text/event-stream' \\`,
    `    -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
  ].join('\n');
}
