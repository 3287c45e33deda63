import { type DocsSite, errorsMarkdown } from '@libs/docs';
import type { Config } from '../config.ts';
import { errors } from '../errors.ts';

/** The address in the Markdown, which is that of `npm start`. */
const WRITTEN_URL = 'http://localhost:4100';

/** The guides in the order in which they are read. */
export function toolhubDocs({ server }: Pick<Config, 'server'>): DocsSite {
  return {
    product: 'Toolhub',
    folder: new URL('../../docs/', import.meta.url),
    groups: [{ title: 'When something goes wrong', pages: ['errors'] }],
    includes: { errors: errorsMarkdown(errors) },
    publicUrl: server.publicUrl,
    writtenUrl: WRITTEN_URL,
    links: [],
  };
}
