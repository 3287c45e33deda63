import { join } from 'node:path';
import type { PaymentsConfig } from './config.ts';
import { SANDBOX_TOKEN } from './keys/key.ts';

/** What a person reads after the start; in production one line without secrets. */
export function welcome(config: PaymentsConfig, started: { address: string; adminToken: string }): string {
  const { publicUrl } = config.http;
  if (!config.development) return `Payments listens on ${started.address} (${config.role})\n`;
  if (config.role === 'worker') return `Payments works; health at ${started.address}/healthz\n`;
  const lines = [
    `Payments      ${publicUrl}`,
    `  open this   ${publicUrl}/docs/first-payment`,
    `  dashboard   ${publicUrl}/dashboard`,
    `  reference   ${publicUrl}/docs/reference`,
    `  listens on  ${started.address} (${config.role})`,
    `  admin token ${started.adminToken}`,
  ];
  // Whoever signs up is asked to follow a link in a mail, which no server has sent.
  if (config.mail.smtpUrl === undefined) lines.push(`  mail        ${join(config.dataDir, 'mail')}`);
  if (config.sandbox.on) {
    lines.push(
      `  sandbox key ${SANDBOX_TOKEN}`,
      '',
      'A first payment, to paste into another terminal. It answers with the payment as JSON, "status":"pending";',
      'a few seconds later it is completed, which the dashboard and GET /v1/payments show.',
      '',
      firstPayment(publicUrl),
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}

function firstPayment(publicUrl: string): string {
  const body = {
    amount: 2500,
    currency: 'USD',
    source: { payment_method_id: 'pm_alice' },
    destination: { payment_method_id: 'pm_bob' },
    rail: 'auto',
  };
  return [
    `  curl -sS ${publicUrl}/v1/payments \\`,
    `    -H 'Authorization: Bearer ${SANDBOX_TOKEN}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -H "Idempotency-Key: $(date +%s)" \\`,
    `    -d '${JSON.stringify(body)}'`,
  ].join('\n');
}
