/** A pairing code: its request, and the derivation of the secret that this device shares with the phone. */
import { randomBytes } from 'node:crypto';
import {
  aesDecryptCTR,
  aesEncryptCTR,
  aesEncryptGCM,
  type AuthenticationCreds,
  type BinaryNode,
  bytesToCrockford,
  Curve,
  derivePairingCodeKey,
  getBinaryNodeChild,
  hkdf,
  type KeyPair,
  proto,
} from '@whiskeysockets/baileys';
import { type deviceBrowsers, deviceSystems } from '#actors/model.ts';
import type { Close, OpenOptions } from '#actors/ports.ts';
import { closeOf, ownCloses } from '../wire/outcomes.ts';

// The name of the linked device. The phone's list of linked devices shows `DeviceProps`, which may have any name. The request of a pairing
// code must have a browser and a system from a fixed list. The platform refuses other names with 400.

/** Browsers by their names in the API. `id`: the platform id in the request of a pairing code. The platform refuses desktop programs (7 and above). */
const browsers = {
  chrome: { name: 'Chrome', id: '1' },
  edge: { name: 'Edge', id: '2' },
  firefox: { name: 'Firefox', id: '3' },
  safari: { name: 'Safari', id: '6' },
} as const satisfies Readonly<Record<(typeof deviceBrowsers)[number], Companion | object>>;

/** The name of the device in the request of a pairing code. */
interface Companion {
  readonly id: string;
  /** The text `Browser (System)`. */
  readonly display: string;
}

/** Returns a browser; Chrome for an unknown name. A name with "android" would make the session look like a phone, and "Desktop" is refused. */
const browserNamed = (wanted: string | undefined) =>
  browsers[(wanted ?? '').trim().toLowerCase() as keyof typeof browsers] ?? browsers.chrome;

/** Returns the device name, the browser and its version, in the library's order. */
export const browserOf = ({ browser, systemName }: OpenOptions): [string, string, string] => [
  systemName?.trim() || 'Dormouse',
  browserNamed(browser).name,
  '1.0',
];

/** Returns the `PlatformType` of DeviceProps, as the library registers it. This enumeration differs from the platform id of a pairing code. */
export const deviceTypeOf = ({ browser }: OpenOptions): number =>
  proto.DeviceProps.PlatformType[browserNamed(browser).name.toUpperCase() as 'CHROME'] || proto.DeviceProps.PlatformType.CHROME;

export const companionOf = ({ browser, system }: OpenOptions): Companion => {
  const { name, id } = browserNamed(browser);
  return { id, display: `${name} (${deviceSystems.find((known) => known === system) ?? deviceSystems[0]})` };
};

/** The used part of the library's socket. */
export interface QuerySocket {
  query(node: BinaryNode): Promise<BinaryNode>;
}

type Keys = Pick<AuthenticationCreds, 'noiseKey' | 'signedIdentityKey'>;

/** The address of the platform itself, in the library's form. */
export const platform = '@s.whatsapp.net';
const noText = Buffer.alloc(0);

const node = (tag: string, content: BinaryNode['content'], attrs: BinaryNode['attrs'] = {}): BinaryNode =>
  content === undefined ? { tag, attrs } : { tag, attrs, content };

/** Returns the bytes of a child; undefined if it is missing or does not have exactly `length` bytes. */
const bytesOf = (parent: BinaryNode | undefined, tag: string, length?: number): Buffer | undefined => {
  const content = getBinaryNodeChild(parent, tag)?.content;
  if (!(content instanceof Uint8Array) || (length !== undefined && content.length !== length)) return undefined;
  return Buffer.from(content);
};

const request = (jid: string, stage: string, more: BinaryNode['attrs'], content: BinaryNode[]): BinaryNode =>
  node('iq', [node('link_code_companion_reg', content, { jid, stage, ...more })], { to: platform, type: 'set', xmlns: 'md' });

/** Encrypts a key under the code. Returns the salt (32 bytes), the initialisation vector (16 bytes) and the encrypted key (32 bytes). */
const wrap = async (code: string, key: Uint8Array): Promise<Buffer> => {
  const [salt, iv] = [randomBytes(32), randomBytes(16)];
  return Buffer.concat([salt, iv, aesEncryptCTR(key, await derivePairingCodeKey(code, salt), iv)]);
};

const unwrap = async (code: string, wrapped: Buffer): Promise<Buffer> => {
  const key = await derivePairingCodeKey(code, wrapped.subarray(0, 32));
  return aesDecryptCTR(wrapped.subarray(48, 80), key, wrapped.subarray(32, 48));
};

export class LinkCode {
  readonly code: string;
  readonly #jid: string;
  readonly #ref: Buffer;
  readonly #ephemeral: KeyPair;
  /** The number of times that a phone began a pairing with this code. */
  hellos = 0;

  private constructor(code: string, jid: string, ref: Buffer, ephemeral: KeyPair) {
    this.code = code;
    this.#jid = jid;
    this.#ref = ref;
    this.#ephemeral = ephemeral;
  }

  /** Requests a code. `phone`: digits. Rejects with the library's error if the platform refuses the number or the device. */
  static async request(sock: QuerySocket, phone: string, device: Companion, { noiseKey }: Keys): Promise<LinkCode> {
    const code = bytesToCrockford(randomBytes(5));
    const ephemeral = Curve.generateKeyPair();
    const jid = `${phone}@s.whatsapp.net`;
    const answer = await sock.query(
      request(jid, 'companion_hello', { should_show_push_notification: 'true' }, [
        node('link_code_pairing_wrapped_companion_ephemeral_pub', await wrap(code, ephemeral.public)),
        node('companion_server_auth_key_pub', noiseKey.public),
        node('companion_platform_id', device.id),
        node('companion_platform_display', device.display),
        node('link_code_pairing_nonce', Buffer.alloc(1)),
      ]),
    );
    const ref = bytesOf(getBinaryNodeChild(answer, 'link_code_companion_reg'), 'link_code_pairing_ref');
    if (ref === undefined) throw new Error('the answer to the request of a pairing code names no reference');
    return new LinkCode(code, jid, ref, ephemeral);
  }

  /** Returns true if a notification belongs to this code, and not to an earlier one. */
  isNamedBy(notice: BinaryNode | undefined): boolean {
    return bytesOf(notice, 'link_code_pairing_ref')?.equals(this.#ref) ?? false;
  }

  /**
   * Handles a `primary_hello`. Returns the secret that authenticates the linking, and the request from which the phone derives the same secret. Returns
   * null if the keys of the phone are missing. Such notifications may arrive before the real one.
   */
  async finish(
    hello: BinaryNode,
    { signedIdentityKey }: Keys,
  ): Promise<{ readonly advSecret: string; readonly request: BinaryNode } | null> {
    const wrapped = bytesOf(hello, 'link_code_pairing_wrapped_primary_ephemeral_pub', 80);
    const primary = bytesOf(hello, 'primary_identity_pub', 32);
    if (wrapped === undefined || primary === undefined) return null;
    const shared = Curve.sharedKey(this.#ephemeral.private, await unwrap(this.code, wrapped));
    const [random, salt, iv] = [randomBytes(32), randomBytes(32), randomBytes(12)];
    const key = hkdf(shared, 32, { salt, info: 'link_code_pairing_key_bundle_encryption_key' });
    const bundle = aesEncryptGCM(Buffer.concat([signedIdentityKey.public, primary, random]), key, iv, noText);
    const secrets = Buffer.concat([shared, Curve.sharedKey(signedIdentityKey.private, primary), random]);
    return {
      advSecret: Buffer.from(hkdf(secrets, 32, { info: 'adv_secret' })).toString('base64'),
      request: request(this.#jid, 'companion_finish', {}, [
        node('link_code_pairing_wrapped_key_bundle', Buffer.concat([salt, iv, bundle])),
        node('companion_identity_public', signedIdentityKey.public),
        node('link_code_pairing_ref', this.#ref),
      ]),
    };
  }
}

// The reasons for which the platform refuses a pairing code, or the linking with one.

/** Returns the code of an `<error>` in the answer to a request. The library's error has the code in the field `data`. */
const codeOf = (error: unknown): number | null => {
  const code = (error as { readonly data?: unknown } | null)?.data;
  return typeof code === 'number' && Number.isFinite(code) ? code : null;
};

/** Returns the close for a refusal. `device`: the device in the refused request; absent for the last step of a pairing. */
export const codeRefusal = (error: unknown, device?: Companion): Close => {
  const code = codeOf(error);
  if (code === null) return closeOf(error);
  if (device === undefined) return { ...ownCloses.linkingRefused, message: `error ${code}` };
  if (code === 400) return { ...ownCloses.deviceNameRefused, message: `"${device.display}"` };
  if (code === 404) return ownCloses.numberRefused;
  if (code === 429) return ownCloses.codesLimited;
  return { ...ownCloses.codeRefused, message: `error ${code}` };
};
