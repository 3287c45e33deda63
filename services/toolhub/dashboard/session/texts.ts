export const signup = { lead: 'Free for 1,000 calls a month.', submit: 'Make the account' } as const;
