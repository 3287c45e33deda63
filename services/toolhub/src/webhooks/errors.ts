import { defineErrors, type ErrorDefinitions } from '@libs/http';

export const webhookErrorDefinitions = {
  webhook_url_refused: {
    kind: 'refused',
    title: 'Webhook address refused',
    detail: 'Webhooks may not go to this address.',
    help: '`reason` says why. Give a public https address: local, private and reserved addresses are refused in every spelling, and so are names that lead to them.',
  },
  webhook_not_configured: {
    kind: 'conflict',
    title: 'No webhook',
    detail: 'There is no webhook to send this to; set one up first.',
  },
} as const satisfies ErrorDefinitions;

export const webhookErrors = defineErrors(webhookErrorDefinitions);
