import { defineErrors, type ErrorDefinitions } from '@libs/http';

export const invoiceErrorDefinitions = {
  locked: {
    kind: 'conflict',
    title: 'Locked',
    detail: 'Another run of the invoices is under way.',
    help: 'One run works at a time. Try again when it is done; a run that died gives way after an hour.',
    retryable: true,
  },
  period_not_ended: {
    kind: 'refused',
    title: 'Period not ended',
    detail: 'Invoices are made for months that are over.',
  },
  invoice_not_payable: {
    kind: 'conflict',
    title: 'Invoice not payable',
    detail: 'A void invoice cannot be paid.',
  },
  invoice_not_voidable: {
    kind: 'conflict',
    title: 'Invoice not voidable',
    detail: 'A paid invoice cannot be voided.',
  },
} as const satisfies ErrorDefinitions;

export const invoiceErrors = defineErrors(invoiceErrorDefinitions);
