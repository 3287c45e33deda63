import { defineErrors, type ErrorDefinitions } from '@libs/http';

export const adminErrorDefinitions = {
  customer_suspended: {
    kind: 'forbidden',
    title: 'Account suspended',
    detail: 'This account is suspended; ask the operator.',
    help: 'Until the operator resumes the account, its tokens and sessions are refused everywhere.',
  },
} as const satisfies ErrorDefinitions;

export const adminErrors = defineErrors(adminErrorDefinitions);
