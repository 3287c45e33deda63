// To add an event is a line in the list of types, one for the reference and the place that emits it: nothing else names a type,
// but for mail, guides and figures about it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { eventTypes } from '../../services/payments/src/events/event.ts';
import { EVENT_TYPES } from '../../services/toolhub/src/events/event.ts';

const services = [
  { name: 'payments', types: eventTypes },
  { name: 'toolhub', types: EVENT_TYPES },
] as const;
const LIST = 'events/event.ts';
/** What describes events for the reference; types hold it complete. */
const DESCRIPTIONS = ['events/schemas.ts', 'webhooks/schemas.ts', 'webhooks/routes.ts', 'reference.ts'];

function sources(service: string): { path: string; text: string }[] {
  const folder = fileURLToPath(new URL(`../../services/${service}/src`, import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(
      (path) =>
        path.endsWith('.ts') &&
        !/\.test\.ts$|(^|\/)test\//.test(path) &&
        path !== LIST &&
        !DESCRIPTIONS.includes(path),
    )
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

describe.each(services)('events of $name', ({ name, types }) => {
  const files = sources(name);
  test.each(types.map((type) => [type]))('%s is named in its list and by who emits it', (type) => {
    const naming = files
      .filter(({ path, text }) => text.includes(`'${type}'`) && !/^(mail|guides|overview)\//.test(path))
      .map(({ path }) => path);
    const features = new Set(naming.map((path) => path.split('/')[0]));
    expect([...features].length, naming.join(', ')).toBeLessThanOrEqual(1);
  });
});
