/** The text of `--help`: the commands, and every setting with its default. */
import { nameOf, type Setting, settable } from './settings.ts';

const commands = [
  ['npm start', 'starts the gateway'],
  ['npm run sandbox', 'starts the gateway with a simulated platform, for use without a phone'],
  ['npm run backup', 'copies the data folder while the gateway works'],
  ['npm run restore', 'makes a data folder from a backup'],
  ['npm start -- --help', 'prints this text'],
] as const;

const firstSentence = (text: string): string => /^.*?\.(?= [A-Z0-9`]|$)/s.exec(text)?.[0] ?? text;

const lineOf = ([key, { kind, value, about }]: readonly [string, Setting<unknown>]): string => {
  const shown = value === null || value === '' || kind.secret ? 'none' : kind.show(value);
  return `  ${nameOf(key)} (${shown})\n      ${firstSentence(about)}`;
};

export const helpText = (): string => {
  const groups = Map.groupBy(Object.entries(settable), ([, { group }]) => group);
  return [
    'Commands:',
    ...commands.map(([command, about]) => `  ${command.padEnd(20)} ${about}`),
    '',
    'Settings come from the environment or from a file .env. docs/settings.md gives the reasons for the defaults.',
    ...[...groups].flatMap(([group, settings]) => ['', `${group}:`, ...settings.map(lineOf)]),
  ].join('\n');
};
