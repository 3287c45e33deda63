import type { CodeSample } from '@libs/ui';
import { mode } from '../../api/mode.ts';
import type { Payment } from '../../api/types.ts';

/** The order as its sender would write it; defaults are left out. */
export function bodyOf(payment: Payment): Record<string, unknown> {
  return {
    amount: payment.amount,
    currency: payment.currency,
    source: payment.source,
    destination: payment.destination,
    rail: payment.rail,
    ...(payment.description === null ? {} : { description: payment.description }),
    ...(Object.keys(payment.metadata).length === 0 ? {} : { metadata: payment.metadata }),
  };
}

const KEY = mode === 'test' ? 'sk_test_…' : 'sk_live_…';

/** The same payment by program, ready to be pasted with a key of one's own. */
export function samplesOf(body: Record<string, unknown>, origin: string): CodeSample[] {
  const json = JSON.stringify(body, null, 2);
  return [
    {
      name: 'curl',
      text: [
        `curl -sS ${origin}/v1/payments \\`,
        `  -H 'Authorization: Bearer ${KEY}' \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -H "Idempotency-Key: $(uuidgen)" \\`,
        `  -d '${json.replaceAll("'", "'\\''")}'`,
      ].join('\n'),
    },
    {
      name: 'Node',
      text: [
        "import { Payments } from 'payments-api';",
        '',
        `const client = new Payments({ apiKey: '${KEY}', baseUrl: '${origin}' });`,
        `const payment = await client.payments.create(${json});`,
        'console.log(payment.id, payment.status);',
      ].join('\n'),
    },
    {
      name: 'Python',
      text: [
        'from payments_api import Payments',
        '',
        `client = Payments("${KEY}", "${origin}")`,
        `payment = client.payments.create(**${json})`,
        'print(payment.id, payment.status)',
      ].join('\n'),
    },
  ];
}
