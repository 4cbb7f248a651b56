/**
 * The name of the linked device. The phone's list of linked devices shows `DeviceProps`, where every name is allowed. The request of a pairing code names a
 * browser and a system of a fixed list. The platform refuses other names with 400.
 */
import { proto } from '@whiskeysockets/baileys';
import { deviceSystems, type deviceBrowsers } from '#actors/model.ts';
import type { OpenOptions } from '#actors/ports.ts';

/** Browsers by the name that the interface uses; `id` is the platform id of a pairing code. The platform refuses desktop programs (7 and above). */
const browsers = {
  chrome: { name: 'Chrome', id: '1' },
  edge: { name: 'Edge', id: '2' },
  firefox: { name: 'Firefox', id: '3' },
  safari: { name: 'Safari', id: '6' },
} as const satisfies Readonly<Record<(typeof deviceBrowsers)[number], Companion | object>>;

/** The name of the device in the request of a pairing code. */
export interface Companion {
  readonly id: string;
  /** `Browser (System)`. */
  readonly display: string;
}

/** An unknown browser is shown as Chrome. A name with "android" in it would make the session pose as a phone, and "Desktop" is refused. */
const browserNamed = (wanted: string | undefined) =>
  browsers[(wanted ?? '').trim().toLowerCase() as keyof typeof browsers] ?? browsers.chrome;

/** The name, the browser and its version, in the library's order. */
export const browserOf = ({ browser, systemName }: OpenOptions): [string, string, string] => [
  systemName?.trim() || 'Dormouse',
  browserNamed(browser).name,
  '1.0',
];

/** `PlatformType` of DeviceProps, as the library registers it: another enumeration than the platform id of a pairing code. */
export const deviceTypeOf = ({ browser }: OpenOptions): number =>
  proto.DeviceProps.PlatformType[browserNamed(browser).name.toUpperCase() as 'CHROME'] || proto.DeviceProps.PlatformType.CHROME;

export const companionOf = ({ browser, system }: OpenOptions): Companion => {
  const { name, id } = browserNamed(browser);
  return { id, display: `${name} (${deviceSystems.find((known) => known === system) ?? deviceSystems[0]})` };
};
