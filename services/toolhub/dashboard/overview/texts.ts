export const attention = {
  title: 'Needs your attention',
  waiting: (calls: number) =>
    calls === 1 ? 'A call waits for your approval.' : `${calls} calls wait for your approval.`,
  moreWaiting: (calls: number) => `More than ${calls} calls wait for your approval.`,
  decide: 'Decide',
  expired: (platform: string, account: string) =>
    `${platform} (${account}): the token has expired, so its tools stand still.`,
  usedUp: 'The calls of this month are used up: all further ones are refused.',
} as const;

export const overview = {
  title: 'Overview',
  range: 'Range',
  ranges: { '7': '7 days', '30': '30 days', '90': '90 days', '365': '1 year' },
  daily: 'Daily activity',
  showNumbers: 'Show each day in numbers',
  hideNumbers: 'Hide the numbers',
  day: 'Day (UTC)',
  perPlatform: 'Usage per platform',
  speed: 'Calls, failures and how long they took',
  succeeded: 'Succeeded',
  failed: 'Failed',
  calls: 'Calls',
  errorRate: 'Error rate',
  activePlatforms: 'Platforms',
  platform: 'Platform',
  p50: 'Half within',
  p95: '95 % within',
  latest: 'Latest calls',
  all: 'All calls',
  tool: 'Tool',
  outcome: 'Outcome',
  by: 'By',
  when: 'When',
  noCalls: 'No calls yet',
  noCallsNext: 'They appear here as soon as an assistant uses a tool.',
} as const;

export const quota = {
  title: 'This month',
  change: 'Change the plan',
  used: (used: string, limit: string) => `${used} of ${limit} calls`,
  resets: 'Resets on',
  forecast: (calls: string) => `At this pace, about ${calls} calls by the end of the month.`,
  unused: 'A forecast appears here after the first call.',
  willStop: 'Calls stop at the limit: a larger plan keeps them going.',
  overage: 'Calls beyond what is included cost extra.',
} as const;

export const checklist = {
  title: 'First steps',
  lead: 'A few steps until your assistant acts for you.',
  done: 'done',
  account: {
    title: 'Connect an account',
    text: 'Your mailbox, or any of the other platforms.',
    action: 'Connect an account',
  },
  assistant: {
    title: 'Connect an assistant',
    text: 'Give your AI client the address of this service, and log in there once.',
    action: 'Connect an assistant',
  },
  call: {
    title: 'Make the first call',
    text: 'Ask your assistant for something, or try a tool here.',
    action: 'Try a tool',
  },
  webhook: {
    title: 'Hear of events (optional)',
    text: 'A webhook tells your own program of messages, expired tokens and limits.',
    action: 'Set up a webhook',
  },
} as const;
