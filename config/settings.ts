/** The table of settings: every one with its name, kind, default and the reason for that default. Nothing else knows a default. */
import { serverSettings } from './server-settings.ts';
import { databaseSettings } from './database-settings.ts';
import { platformSettings } from './platform-settings.ts';
import { pairingSettings } from './pairing-settings.ts';
import { sendSettings } from './send-settings.ts';
import { campaignSettings } from './campaign-settings.ts';
import { pictureSettings } from './picture-settings.ts';
import { leadSettings } from './lead-settings.ts';
import { chatbotSettings } from './chatbot-settings.ts';
import { groupSettings } from './group-settings.ts';
import { channelSettings } from './channel-settings.ts';
import { reconnectSettings } from './reconnect-settings.ts';
import { eventSettings } from './event-settings.ts';
import { chatwootSettings } from './chatwoot-settings.ts';
import { mediaSettings } from './media-settings.ts';
import { uploadSettings } from './upload-settings.ts';
import { proxySettings } from './proxy-settings.ts';
import { fileSettings } from './file-settings.ts';
import { clusterSettings } from './cluster-settings.ts';
import type { Setting } from './setting.ts';

export type { Setting } from './setting.ts';

/** Keys are the names in the program; `nameOf` gives the name in the environment (`dataDir` is `DATA_DIR`). */
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
} as const;

type Table = typeof table;

/** The values from the environment; null where the program decides by itself. */
export type Values = { readonly [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never };

/** `maxConnectedInstances` → `MAX_CONNECTED_INSTANCES`. */
export const nameOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** Pairs of which the first may not be greater than the second. */
export const ranges: readonly (readonly [keyof Table, keyof Table])[] = [
  ['reconnectMinMs', 'reconnectMaxMs'],
  ['stopGraceMs', 'shutdownMs'],
  ['replacedRetryMinMs', 'replacedRetryMaxMs'],
  ['canaryMinMs', 'canaryMaxMs'],
  ['circuitMinMs', 'circuitMaxMs'],
];
