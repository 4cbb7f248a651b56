/** The table of settings, each with its name, its kind, its default and the reason for that default. The rows are in the other files of this folder. */
import { auditSettings } from './audit-settings.ts';
import { serverSettings } from './server-settings.ts';
import { clusterSettings, databaseSettings } from './database-settings.ts';
import { pairingSettings, platformSettings } from './platform-settings.ts';
import { campaignSettings, sendSettings } from './send-settings.ts';
import { channelSettings, groupSettings, leadSettings, pictureSettings } from './people-settings.ts';
import { chatbotSettings, chatwootSettings } from './chatbot-settings.ts';
import { proxySettings, reconnectSettings } from './reconnect-settings.ts';
import { eventSettings } from './event-settings.ts';
import { fileSettings, mediaSettings, uploadSettings } from './file-settings.ts';
import type { Setting } from './kinds.ts';

export type { Setting } from './kinds.ts';

/** The settings by their names in the program. `nameOf` returns the name of the environment variable (`DATA_DIR` for `dataDir`). */
export const table = {
  ...serverSettings,
  ...databaseSettings,
  ...platformSettings,
  ...pairingSettings,
  ...sendSettings,
  ...campaignSettings,
  ...pictureSettings,
  ...leadSettings,
  ...chatbotSettings,
  ...groupSettings,
  ...channelSettings,
  ...reconnectSettings,
  ...eventSettings,
  ...chatwootSettings,
  ...mediaSettings,
  ...uploadSettings,
  ...proxySettings,
  ...fileSettings,
  ...clusterSettings,
  ...auditSettings,
} as const;

type Table = typeof table;

/** The table without the constants, for the environment, `--help` and docs/settings.md. */
export const settable: Readonly<Record<string, Setting<unknown>>> = Object.fromEntries(
  Object.entries(table as Readonly<Record<string, Setting<unknown>>>).filter(([, { fixed }]) => !fixed),
);

/** Returns the name of the environment variable of a setting. `maxConnectedInstances` becomes `MAX_CONNECTED_INSTANCES`. */
export const nameOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** Names of the constants, in the spelling of environment variables. Some constants were settings in earlier versions. */
export const constantNames: readonly string[] = Object.entries(table as Readonly<Record<string, Setting<unknown>>>)
  .filter(([, { fixed }]) => fixed)
  .map(([key]) => nameOf(key));

/** The values of the settings; null if the program determines the value. */
export type Values = { readonly [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never };
