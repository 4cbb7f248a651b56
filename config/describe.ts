/** Writes the table of settings into `docs/settings.md` (`node config/describe.ts`), so that it cannot differ from the program. */
import { readFileSync, writeFileSync } from 'node:fs';
import { nameOf, type Setting, settable } from './settings.ts';

const start = '<!-- settings -->';
const end = '<!-- /settings -->';

const row = ([key, { kind, value, about }]: [string, Setting<unknown>]): string => {
  const shown = value === null || value === '' || kind.secret ? 'none' : `\`${kind.show(value)}\``;
  return `| \`${nameOf(key)}\` | ${shown} | ${about} |`;
};

export const describeSettings = (): string => {
  const groups = Map.groupBy(Object.entries(settable), ([, { group }]) => group);
  return [...groups]
    .map(([group, settings]) =>
      [`## ${group}`, '', '| Name | Default | What it does |', '| --- | --- | --- |', ...settings.map(row)].join('\n'),
    )
    .join('\n\n');
};

/** Returns the document with a new table between its two markers. Throws if a marker is missing. */
export const withSettings = (document: string): string => {
  const [from, to] = [document.indexOf(start), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the document has no ${start} … ${end}`);
  return `${document.slice(0, from)}${start}\n\n${describeSettings()}\n\n${document.slice(to)}`;
};

if (import.meta.main) {
  const page = new URL('../docs/settings.md', import.meta.url);
  writeFileSync(page, withSettings(readFileSync(page, 'utf8')));
}
