import type { DocsSite } from '@libs/docs';
import type { Config } from '../config.ts';
import type { Connector } from '../connectors/connector.ts';
import { toolhubIncludes } from './includes.ts';

/** The address in the Markdown, which is that of `npm start`. */
const WRITTEN_URL = 'http://localhost:4100';

/** The guides in the order in which they are read. */
export function toolhubDocs({ server }: Pick<Config, 'server'>, connectors: readonly Connector[]): DocsSite {
  return {
    product: 'Toolhub',
    folder: new URL('../../docs/', import.meta.url),
    groups: [
      { title: 'Start', pages: ['connect-assistant', 'connect-account'] },
      { title: 'Every day', pages: ['tools', 'webhooks', 'billing'] },
      { title: 'When something goes wrong', pages: ['errors'] },
      { title: 'Operating it', pages: ['operating', 'runbook'] },
    ],
    includes: toolhubIncludes(connectors),
    publicUrl: server.publicUrl,
    writtenUrl: WRITTEN_URL,
    links: [],
    tokens: { bearer: 'TOOLHUB_TOKEN' },
  };
}
