import { admin } from './admin/texts.ts';
import { approvals } from './approvals/texts.ts';
import { assistants } from './assistants/texts.ts';
import { audit } from './audit/texts.ts';
import { billing } from './billing/texts.ts';
import {
  connections,
  emailForm,
  health,
  platformLeads,
  platforms,
  platformUses,
} from './connections/texts.ts';
import { navigation } from './frame/texts.ts';
import { front, login } from './front/texts.ts';
import { attention, checklist, overview, quota } from './overview/texts.ts';
import { signup } from './session/texts.ts';
import { settings } from './settings/texts.ts';
import { scopes, tokens } from './tokens/texts.ts';
import { toolClasses, tools, trial } from './tools/texts.ts';
import { events, webhooks } from './webhooks/texts.ts';

/** Every word of the dashboard: what a page alone says lies in its folder, what several say is here. */
export const texts = {
  product: 'Toolhub',
  common: { actions: 'Actions' },
  fields: { email: 'E-mail', password: 'Password', name: 'Name' },
  platforms,
  platformLeads,
  platformUses,
  events,
  scopes,
  attention,
  navigation,
  front,
  login,
  signup,
  overview,
  quota,
  checklist,
  health,
  connections,
  emailForm,
  toolClasses,
  tools,
  trial,
  webhooks,
  billing,
  assistants,
  tokens,
  approvals,
  audit,
  settings,
  admin,
} as const;
