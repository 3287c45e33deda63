import type { ErrorDefinitions } from '@libs/http';

export const toolErrorDefinitions = {
  tool_always_on: {
    kind: 'refused',
    title: 'Tool is always on',
    detail: 'Tools that belong to no platform cannot be switched off.',
  },
} as const satisfies ErrorDefinitions;
