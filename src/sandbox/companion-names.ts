/**
 * Names that a client may give itself in the request of a pairing code. The platform refuses every other `companion_platform_display` with 400:
 * "Chrome (Acme)" was refused and "Chrome (Windows)" was taken on 2026-08-12 (WhiskeySockets/Baileys 2560 and PR 2769, oxidezap/whatsapp-rust PR 979).
 */
import { child, childBytes, text, type BinaryNode } from './nodes.ts';

/** The browser that belongs to each platform id. Id 7 (desktop programs) and above are refused (Baileys PR 2409). */
const browsers: Readonly<Record<string, string>> = { 1: 'Chrome', 2: 'Edge', 3: 'Firefox', 4: 'IE', 5: 'Opera', 6: 'Safari' };
/** Systems that are known to be taken. The complete list is not public. */
const systems = ['Windows', 'Mac OS', 'Linux'];
const format = /^(?<browser>[^()]+) \((?<system>[^()]+)\)$/;

/** True if the platform takes the name, the platform id and the key of a `companion_hello`. */
export function isCompanion(request: BinaryNode | undefined): boolean {
  const { browser = '', system = '' } = format.exec(text(child(request, 'companion_platform_display')) ?? '')?.groups ?? {};
  const id = text(child(request, 'companion_platform_id')) ?? '';
  const keyed = childBytes(request, 'companion_server_auth_key_pub', 32) !== undefined;
  return keyed && id in browsers && Object.values(browsers).includes(browser) && systems.includes(system);
}
