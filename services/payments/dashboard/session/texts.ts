export const signup = {
  lead: 'Test mode is yours at once; live mode after a look at your organisation.',
  known: 'Already have an account?',
  logIn: 'Log in',
} as const;

export const liveAccess = {
  none: 'Your organisation has no live access yet: you can look around, but make no live payments, accounts, webhooks or keys.',
  refused:
    'Live access was refused: you can look around, but make no live payments, accounts, webhooks or keys. The settings say why.',
  ask: 'Ask for it in the settings.',
  ownersAsk: 'An owner of your organisation asks for it, in the settings.',
  askedFor: 'Asked for; we are looking at your organisation.',
  isAskedFor: 'It is asked for, and the answer shows here.',
  toSettings: 'To the settings',
} as const;

export const invitation = {
  title: 'You are invited',
  lead: (organisation: string, role: string) => `${organisation} invites you. Your role: ${role}.`,
  join: (email: string) => `Join as ${email}`,
  another: (invited: string, here: string) => `It is for ${invited}; you are logged in as ${here}.`,
  goOnAs: (email: string) => `Log out and go on as ${email}`,
  signUp: 'Sign up and join',
  dead: 'This invitation is over',
  deadLead: 'It was used or withdrawn, or its seven days have passed. Ask whoever invited you for a new one.',
  deadNext: 'Go to the dashboard',
} as const;
