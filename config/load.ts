/** Reads the settings: the environment, then the `.env` file for what the environment leaves out, then the defaults. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { constantNames, nameOf, type Setting, settable, table, type Values } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** All settings, frozen. */
export type Settings = Values & { readonly baseUrl: string };

/** The error of invalid settings. `message` lists every problem. It never contains a value, because any value may be a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Returns the address under which a server that listens on `host` reaches itself. */
export const baseUrlOf = (host: string, port: number): string => {
  const everywhere = host === '0.0.0.0' || host === '::' || host === '';
  const reachable = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
};

/** Names in `.env` that only the compose file reads. They are not reported as unknown. */
const strangers: ReadonlySet<string> = new Set(['POSTGRES_PASSWORD']);

/** Returns the edit distance of two names. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};

/** Returns the setting that was probably meant; null if no name is near. */
const nearest = (name: string, known: readonly string[]): string | null => {
  const ranked = known.map((candidate) => [candidate, distance(name.toUpperCase(), candidate)] as const).toSorted((a, b) => a[1] - b[1]);
  const [best] = ranked;
  return best !== undefined && best[1] <= Math.max(2, name.length / 3) ? best[0] : null;
};

/**
 * Returns the names in the file that are no settings, and the names of constants in the environment. Other names in the environment are not reported, because
 * other programs use the environment too.
 */
const unknownIn = (file: Environment, env: Environment): readonly UnknownSetting[] => {
  const known = Object.keys(settable).map(nameOf);
  const one = (name: string, inFile: boolean): UnknownSetting => {
    const constant = constantNames.includes(name);
    return { name, inFile, constant, meant: constant ? null : nearest(name, known) };
  };
  return [
    ...Object.keys(file)
      .filter((name) => !known.includes(name) && !strangers.has(name))
      .map((name) => one(name, true)),
    ...constantNames.filter((name) => Boolean(env[name]) && file[name] === undefined).map((name) => one(name, false)),
  ];
};

/** Returns the numbers of the lines that have no `=` and are neither empty nor a comment. A value in quotes may have several lines. */
const oddLines = (text: string): readonly number[] => {
  let quote = '';
  return text.split('\n').flatMap((line, at) => {
    if (quote !== '') {
      if (line.includes(quote)) quote = '';
      return [];
    }
    const isOdd = !/^\s*(?:#|$)/.test(line) && !line.includes('=');
    const [, opened = '', rest = ''] = /=\s*(["'`])(.*)$/s.exec(line) ?? [];
    if (opened !== '' && !rest.includes(opened)) quote = opened;
    return isOdd ? [at + 1] : [];
  });
};

const readFile = (path: string, problems: string[], onOddLine: (line: number) => void): Environment => {
  try {
    const text = readFileSync(path, 'utf8');
    for (const line of oddLines(text)) onOddLine(line);
    return Object.fromEntries(Object.entries(parseEnv(text)).map(([name, value]) => [name.trim(), value]));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT') problems.push(`${path} cannot be read (${code})`);
    return {};
  }
};

const parse = (given: Environment, problems: string[]): Values => {
  const values = Object.entries(table as Readonly<Record<string, Setting<unknown>>>).map(([key, { kind, value, fixed }]) => {
    if (fixed) return [key, value];
    const text = given[nameOf(key)]?.trim();
    // Compose files and shells pass an empty text for a variable that is not set.
    if (text === undefined || text === '') return [key, value];
    const parsed = kind.parse(text);
    if (parsed === undefined) problems.push(`${nameOf(key)} must be ${kind.must}`);
    return [key, parsed];
  });
  return Object.fromEntries(values) as Values;
};

/** A name that no setting has. */
export interface UnknownSetting {
  readonly name: string;
  /** True if the name is in the file; false if the name is in the environment. */
  readonly inFile: boolean;
  /** True if the name is that of a constant, which may have been a setting of an earlier version. */
  readonly constant: boolean;
  /** The setting that was probably meant; null if no name is near. */
  readonly meant: string | null;
}

export interface Sources {
  readonly env?: Environment;
  /** The path of a file in the format of `.env`. A missing file counts as empty. */
  readonly file?: string;
  /** Defaults of the mode in which the program was started, such as the sandbox. They take precedence over the defaults of the table. */
  readonly preset?: Environment;
  /** Called for each name that is no setting. Its value has no effect. */
  readonly onUnknown?: (unknown: UnknownSetting) => void;
  /** Called with the number of each line in the file that has no `=`. Such a line has no effect. */
  readonly onOddLine?: (line: number) => void;
  /** Called with the source of every setting, by its name in the environment. */
  readonly onSources?: (sources: SettingSources) => void;
}

/** The source of a value. `program`: a default of the mode in which the program was started, or a value that the program derived. */
export type SettingSource = 'environment' | 'file' | 'program' | 'default';

export type SettingSources = ReadonlyMap<string, SettingSource>;

const isGiven = (given: Environment, name: string): boolean => (given[name]?.trim() ?? '') !== '';

/** Returns the source of each setting. A name in the environment hides the value of the file, even with an empty text, as in `loadSettings`. */
const sourcesOf = (env: Environment, fromFile: Environment, preset: Environment): SettingSources => {
  const sourceOf = (name: string): SettingSource => {
    if (env[name] !== undefined) return isGiven(env, name) ? 'environment' : 'default';
    if (fromFile[name] !== undefined) return isGiven(fromFile, name) ? 'file' : 'default';
    return isGiven(preset, name) ? 'program' : 'default';
  };
  return new Map(Object.keys(settable).map((key) => [nameOf(key), sourceOf(nameOf(key))]));
};

/** Loads the settings. Throws one `SettingsError` for all problems. With `port` 0, `baseUrl` is wrong until the port is known. */
export const loadSettings = ({
  env = process.env,
  file = '.env',
  preset = {},
  onUnknown,
  onOddLine = () => undefined,
  onSources,
}: Sources = {}): Settings => {
  const problems: string[] = [];
  const fromFile = readFile(file, problems, onOddLine);
  if (onUnknown) for (const unknown of unknownIn(fromFile, env)) onUnknown(unknown);
  const settings = parse({ ...preset, ...fromFile, ...env }, problems);
  onSources?.(sourcesOf(env, fromFile, preset));
  if (problems.length > 0) throw new SettingsError(`The settings make no sense:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
  return Object.freeze({ ...settings, baseUrl: settings.baseUrl ?? baseUrlOf(settings.host, settings.port) });
};
