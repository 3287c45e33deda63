import { platforms } from '../connections/texts.ts';

export const front = {
  short: 'tools for your assistant',
  deleted: 'Your account is deleted. Assistants that used it have lost their access.',
  title: 'Your assistant, with your accounts',
  lead: 'Toolhub gives AI assistants tools for your mail, messages and social accounts. You connect an account once; the assistant never sees a password, and every call is counted, logged and yours to stop.',
  start: 'Sign up',
  connect: 'Connect an assistant',
  platforms: Object.values(platforms).join(' · '),
  points: [
    [
      'Connect once',
      'Eleven platforms, by their own log-in or by a key. Credentials are sealed, and opened for your calls alone.',
    ],
    [
      'Stay in charge',
      'Switch single tools off, ask for approval before something is sent or deleted, and see every call in the log.',
    ],
    [
      'Works with every client',
      'One address that speaks the Model Context Protocol, for desktop, terminal and web assistants.',
    ],
  ] as const,
  docs: 'Guides and reference',
} as const;

export const login = { submit: 'Log in', signUp: 'Sign up' } as const;
