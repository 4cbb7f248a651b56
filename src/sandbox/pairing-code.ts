/** The cryptography of pairing by code. Both sides encrypt their ephemeral keys with a key that is derived from the code. */
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  Curve,
  derivePairingCodeKey,
  hkdf,
  type KeyPair,
  proto,
} from '@whiskeysockets/baileys';
import type { Digits } from './interface.ts';
import { type BinaryNode, bytes, child, childBytes } from './nodes.ts';
import type { Random } from './random.ts';
import type { SignedPreKey } from './store/keys.ts';

/** The first request of a client. `wrapped`: 32 bytes of salt, 16 bytes of IV, 32 bytes of encrypted ephemeral key. */
export interface CodeRequest {
  readonly number: Digits;
  readonly ref: string;
  readonly wrapped: Uint8Array;
  /** The time of the request, in Unix milliseconds. */
  readonly askedAt: number;
}

const noText = Buffer.alloc(0);

/** Makes the phone's keys for the exchange. With a wrong code, the companion's ephemeral key is decrypted to a wrong key. `openBundle` detects this. */
export async function wrapEphemeral(
  code: string,
  request: CodeRequest,
  random: Random,
): Promise<{ ephemeral: KeyPair; companionEphemeral: Buffer; wrapped: Buffer }> {
  const typed = code.toUpperCase();
  const theirs = Buffer.from(request.wrapped);
  const companionEphemeral = aesDecryptCTR(
    theirs.subarray(48, 80),
    await derivePairingCodeKey(typed, theirs.subarray(0, 32)),
    theirs.subarray(32, 48),
  );
  const ephemeral = Curve.generateKeyPair();
  const salt = random.bytes(32);
  const iv = random.bytes(16);
  const wrapped = Buffer.concat([salt, iv, aesEncryptCTR(ephemeral.public, await derivePairingCodeKey(typed, salt), iv)]);
  return { ephemeral, companionEphemeral, wrapped };
}

/** Decrypts the key bundle of the client's last message. Returns `undefined` if the bundle is malformed or the code was wrong. */
export function openBundle(
  finish: BinaryNode | undefined,
  ephemeral: KeyPair,
  companionEphemeral: Uint8Array,
  identity: KeyPair,
): { companionIdentity: Buffer; advSecret: Buffer } | undefined {
  const bundle = childBytes(finish, 'link_code_pairing_wrapped_key_bundle', 156);
  if (!bundle) return undefined;
  const shared = Curve.sharedKey(ephemeral.private, companionEphemeral);
  const info = 'link_code_pairing_key_bundle_encryption_key';
  const key = Buffer.from(hkdf(shared, 32, { salt: bundle.subarray(0, 32), info }));
  try {
    const plain = aesDecryptGCM(bundle.subarray(44), key, bundle.subarray(32, 44), noText);
    const companionIdentity = plain.subarray(0, 32);
    const material = Buffer.concat([shared, Curve.sharedKey(identity.private, companionIdentity), plain.subarray(64, 96)]);
    return { companionIdentity, advSecret: Buffer.from(hkdf(material, 32, { info: 'adv_secret' })) };
  } catch {
    // The authentication code differs because the two sides used different pairing codes.
    return undefined;
  }
}

// The facts that a client sends at its registration and with its signed device identity.

export interface Registration {
  readonly identity: Uint8Array;
  readonly registrationId: number;
  readonly signedPreKey: SignedPreKey;
  /** `PlatformType` of DeviceProps; 0 when the client names none. */
  readonly deviceType: number;
}

export function readRegistration(payload: proto.ClientPayload): Registration | undefined {
  const { eRegid, eIdent, eSkeyId, eSkeyVal, eSkeySig, deviceProps } = payload.devicePairingData ?? {};
  if (eRegid?.length !== 4 || eIdent?.length !== 32 || eSkeyId?.length !== 3 || eSkeyVal?.length !== 32 || eSkeySig?.length !== 64)
    return undefined;
  return {
    identity: eIdent,
    registrationId: Buffer.from(eRegid).readUInt32BE(0),
    signedPreKey: { id: Buffer.from(eSkeyId).readUIntBE(0, 3), value: eSkeyVal, signature: eSkeySig },
    deviceType: deviceTypeOf(deviceProps),
  };
}

function deviceTypeOf(props: Uint8Array | null | undefined): number {
  try {
    return (props && proto.DeviceProps.decode(props).platformType) || 0;
  } catch {
    // Malformed protobuf is treated as a missing type of the device.
    return 0;
  }
}

export function readDeviceSignature(stanza: BinaryNode): Uint8Array | undefined {
  const signed = bytes(child(child(stanza, 'pair-device-sign'), 'device-identity'));
  try {
    return signed && (proto.ADVSignedDeviceIdentity.decode(signed).deviceSignature ?? undefined);
  } catch {
    // Malformed protobuf is treated as a missing signature.
    return undefined;
  }
}

export const same = (one: Uint8Array | null | undefined, other: Uint8Array): boolean =>
  one !== null && one !== undefined && Buffer.from(one).equals(other);
