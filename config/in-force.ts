/**
 * The settings in force, as the administrator may see them: the value, the source and the default of each setting. A secret is shown only as set or not set.
 */
import type { Settings, SettingSource, SettingSources } from './load.ts';
import { nameOf, type Setting, settable } from './settings.ts';

export interface SettingInForce {
  /** The name of the environment variable. */
  readonly name: string;
  readonly group: string;
  /** The description of the setting, as in docs/settings.md. */
  readonly about: string;
  readonly source: SettingSource;
  /** The value as the text of an environment variable; '' for none, and for every secret. */
  readonly value: string;
  /** The default as the text of an environment variable; '' for none. */
  readonly default: string;
  readonly secret: boolean;
  readonly isSet: boolean;
}

/** Masks the parts of an address that may be secret: credentials before the host, and everything after the question mark. */
const masked = (value: string): string => {
  const plain = value.replace(/:\/\/[^/@\s]*@/g, '://***@');
  const query = plain.includes('://') ? plain.indexOf('?', plain.indexOf('://')) : -1;
  return query === -1 ? plain : `${plain.slice(0, query)}?***`;
};

const shownOf = (setting: Setting<unknown>, value: unknown): string =>
  value === null || value === undefined || setting.kind.secret ? '' : masked(setting.kind.show(value));

export const settingsInForce = (settings: Settings, sources: SettingSources): readonly SettingInForce[] =>
  Object.entries(settable).map(([key, setting]) => {
    const { kind, group, about, value: byDefault } = setting;
    const inForce = settings[key as keyof Settings] as unknown;
    const [value, usual] = [shownOf(setting, inForce), shownOf(setting, byDefault)];
    const source = sources.get(nameOf(key)) ?? 'default';
    return {
      name: nameOf(key),
      group,
      about,
      // The program derives some values from others, such as the address from host and port.
      source: source === 'default' && value !== usual ? 'program' : source,
      value,
      default: usual,
      secret: kind.secret === true,
      isSet: inForce !== null && inForce !== '',
    };
  });
