import axe from 'axe-core';
import type { Page } from 'playwright-core';

const HTML_LENGTH_MAX = 400;

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string }[];
}

/** What would keep somebody from using the page, by the rules of WCAG 2.2 A and AA; nothing where all is well. */
export async function seriousViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Through the debugger: the page's own policy lets no foreign script in.
  await page.evaluate(axe.source);
  const violations = (await page.evaluate(
    async (only) => {
      const { axe: loaded } = globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: unknown[] }> };
      };
      const options = only === null ? {} : { runOnly: { type: 'rule', values: only } };
      return (await loaded.run({ resultTypes: ['violations'], ...options })).violations;
    },
    rules === undefined ? null : [...rules],
  )) as Violation[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, HTML_LENGTH_MAX)).join(' | ')}`);
}
