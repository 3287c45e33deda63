import type { CodeSample } from '@libs/ui';
import type { Mode, Payment } from '../../api/types.ts';

interface Call {
  path: string;
  node: string;
  python: string;
  body: Record<string, unknown>;
}

/** The order as its sender would write it; defaults are left out. */
function callOf(payment: Payment): Call {
  const more = {
    ...(payment.description === null ? {} : { description: payment.description }),
    ...(Object.keys(payment.metadata).length === 0 ? {} : { metadata: payment.metadata }),
  };
  const { amount, currency, source, destination, rail, refund_of: refunded } = payment;
  if (refunded !== null)
    return {
      path: `/v1/payments/${refunded}/refunds`,
      node: `refund('${refunded}', `,
      python: `refund("${refunded}", `,
      body: { amount, ...more },
    };
  const { prefer } = payment.rail_decision;
  const routing = rail === 'auto' && prefer !== 'balanced' ? { routing: { prefer } } : {};
  const body = { amount, currency, source, destination, rail, ...routing, ...more };
  return { path: '/v1/payments', node: 'create(', python: 'create(', body };
}

/** The same payment by program, ready to be pasted with a key of one's own. */
export function samplesOf(payment: Payment, { origin, mode }: { origin: string; mode: Mode }): CodeSample[] {
  const key = `sk_${mode}_…`;
  const { path, node, python, body } = callOf(payment);
  const json = JSON.stringify(body, null, 2);
  return [
    {
      name: 'curl',
      text: [
        `curl -sS ${origin}${path} \\`,
        `  -H 'Authorization: Bearer ${key}' \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -H "Idempotency-Key: $(date +%s%N)" \\`,
        `  -d '${json.replaceAll("'", "'\\''")}'`,
      ].join('\n'),
    },
    {
      name: 'Node',
      text: [
        "import { Payments } from 'payments-api';",
        '',
        `const client = new Payments({ apiKey: '${key}', baseUrl: '${origin}' });`,
        `const payment = await client.payments.${node}${json});`,
        'console.log(payment.id, payment.status);',
      ].join('\n'),
    },
    {
      name: 'Python',
      text: [
        'from payments_api import Payments',
        '',
        `client = Payments("${key}", "${origin}")`,
        `payment = client.payments.${python}**${json})`,
        'print(payment.id, payment.status)',
      ].join('\n'),
    },
  ];
}
