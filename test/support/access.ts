/** Runs axe-core on a view of the dashboard: contrast, names, roles, order. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Dashboard, desk, windows } from './dashboard.ts';

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const violations = async ({ page }: Dashboard): Promise<readonly Violation[]> => {
  await page.evaluate(`window.axe === undefined ? (() => { ${axe} })() : undefined`);
  return page.evaluate<readonly Violation[]>('axe.run(document).then(({ violations }) => violations)');
};

const sentence = (where: string, { id, help, nodes }: Violation): string =>
  `${where}: ${id}, ${help}\n${nodes.map(({ html, failureSummary }) => `    ${html.slice(0, 200)}\n    ${failureSummary}`).join('\n')}`;

/** Checks the current view in every window. Returns a sentence for each violation, and one if the view is wider than the window. */
export const objectionsTo = async (dashboard: Dashboard, name: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const [suffix, window] of Object.entries(windows)) {
    await dashboard.view(window);
    for (const violation of await violations(dashboard)) found.push(sentence(`${name} ${suffix}`, violation));
    const wider = await dashboard.page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    if (wider) found.push(`${name} ${suffix}: the page is wider than the window`);
  }
  await dashboard.view(desk);
  return found;
};
