/** Overrides constants of config/ in tests, which cannot wait for the real times. A test names a constant like an environment variable of a setting. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadSettings, type Environment, type Settings } from '#config/load.ts';
import { constantNames, nameOf, type Setting, table } from '#config/settings.ts';
import { root } from '#test/source-tree.ts';

const constants = Object.entries(table as Readonly<Record<string, Setting<unknown>>>).filter(([, { fixed }]) => fixed);

/** Returns the arguments of Node.js for a gateway with these variables. `folder` is the program. Older versions have settings in place of constants. */
export const argsFor = (env: Environment, folder = root): readonly string[] => {
  const preload = join(folder, 'test/support/constants-preload.ts');
  return existsSync(preload) && constantNames.some((name) => env[name] !== undefined) ? ['--import', pathToFileURL(preload).href] : [];
};

/** Returns the constants that `env` names, by their keys. All constants of tests are numbers. */
const constantsIn = (env: Environment): Readonly<Record<string, number>> =>
  Object.fromEntries(constants.flatMap(([key]) => (env[nameOf(key)] === undefined ? [] : [[key, Number(env[nameOf(key)])]])));

/** Changes the constants of this process. The program does not see their names in the environment. */
export const changeConstants = (env: NodeJS.ProcessEnv): void => {
  for (const [key, value] of Object.entries(constantsIn(env))) {
    Object.assign(table[key as keyof typeof table], { value });
    delete env[nameOf(key)];
  }
};

/** Returns the settings of `env`, including the overridden constants that `env` names. */
export const settingsWith = (env: Environment): Settings => ({ ...loadSettings({ env, file: '' }), ...constantsIn(env) });
