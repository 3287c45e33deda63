import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** The short form: it is read by the browser again for every page. */
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const HTML_LENGTH_MAX = 400;

/** Rows of a table are made by the same lines; the first of them have every state that a test brings about. */
const MORE_OF_THE_SAME = '.ui-table tbody tr:nth-child(n+9)';

/** What would keep somebody from using the page, by the rules of WCAG 2.2 A and AA; nothing where all is well. */
export async function seriousViolations(
  page: Page,
  rules?: readonly string[],
  within = 'body',
): Promise<string[]> {
  // Through the debugger: the page's own policy lets no foreign script in.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source);
  const violations = (await page.evaluate(
    async ({ only, include, exclude }) => {
      const { axe: loaded } = globalThis as unknown as {
        axe: { run(context: object, options: object): Promise<{ violations: unknown[] }> };
      };
      const options = only === null ? {} : { runOnly: { type: 'rule', values: only } };
      // Styles come from our own server and are there: fetching them again, for a rule about turned phones, takes a second.
      const context = { include: [include], exclude: [exclude] };
      return (await loaded.run(context, { resultTypes: ['violations'], preload: false, ...options }))
        .violations;
    },
    { only: rules === undefined ? null : [...rules], include: within, exclude: MORE_OF_THE_SAME },
  )) as AxeResults['violations'];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, HTML_LENGTH_MAX)).join(' | ')}`);
}
