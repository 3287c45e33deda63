import type { Connector } from './connector.ts';

/** What people call a platform; one that is not here any more keeps its id. */
export function titlesOf(definitions: readonly Connector[]): (platform: string) => string {
  const titles = new Map(definitions.map(({ id, title }) => [id, title]));
  return (platform) => titles.get(platform) ?? platform;
}
