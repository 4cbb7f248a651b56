/** Finds faults of the layout in a narrow window: overlapping texts, cut texts, and boxes that scroll sideways. */
import type { Dashboard } from './dashboard.ts';

/** Parts that may scroll sideways on touch screens: tables in a marked box, the tabs of a session, the counts of the list, and program text. */
const sideways = '.nodes:not(.stack) > .scroll, .deliveries .scroll, .tabs, .counts, pre';

/** A script for the page. It returns a sentence for each fault of the layout. */
const faults = `(() => {
  const found = [];
  const isShown = (node) => {
    const { width, height } = node.getBoundingClientRect();
    if (width <= 1 || height <= 1 || node.closest('.hidden-text, [aria-hidden=true], .skip, svg, .toasts, thead') !== null) return false;
    return getComputedStyle(node).visibility !== 'hidden';
  };
  const nameOf = (node) => node.tagName.toLowerCase() + ' "' + (node.textContent ?? '').trim().slice(0, 40) + '"';
  const selector = 'a, button, h1, h2, h3, .badge, .live, .note, th, td, p, dt, dd, input, select, textarea, legend, label';
  const pieces = [...document.querySelectorAll('#app :is(' + selector + ')')]
    .filter((node) => isShown(node) && node.closest('${sideways}') === null)
    .map((node) => ({ node, box: node.getBoundingClientRect() }));
  // All pairs of boxes are compared, so each box is measured once, and only overlapping pairs are checked further.
  for (const [index, { node: one, box: a }] of pieces.entries())
    for (let next = index + 1; next < pieces.length; next += 1) {
      const { node: other, box: b } = pieces[next];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) <= 2 || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) <= 2) continue;
      if (!one.contains(other) && !other.contains(one)) found.push(nameOf(one) + ' covers ' + nameOf(other));
    }
  for (const node of document.querySelectorAll('#app *')) {
    if (node.scrollWidth <= node.clientWidth + 1 || !isShown(node) || node.closest('${sideways}') !== null) continue;
    const { overflowX, textOverflow } = getComputedStyle(node);
    if (overflowX === 'auto' || overflowX === 'scroll') found.push(nameOf(node) + ' scrolls sideways');
    else if (overflowX === 'hidden' && textOverflow !== 'ellipsis') found.push(nameOf(node) + ' is cut');
    else if (/^h[123]$/i.test(node.tagName)) found.push(nameOf(node) + ' is cut');
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than the window');
  return found;
})()`;

/** Returns a sentence for each fault in the layout of the current page. */
export const layoutFaults = ({ page }: Dashboard): Promise<readonly string[]> => page.evaluate<readonly string[]>(faults);
