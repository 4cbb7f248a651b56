/** The facts that a client tells about itself when it registers and when it signs its device identity. */
import { proto } from '@whiskeysockets/baileys';
import { bytes, child, type BinaryNode } from './nodes.ts';
import type { SignedPreKey } from './store/keys.ts';

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
    // Malformed protobuf names no type.
    return 0;
  }
}

export function readDeviceSignature(stanza: BinaryNode): Uint8Array | undefined {
  const signed = bytes(child(child(stanza, 'pair-device-sign'), 'device-identity'));
  try {
    return signed && (proto.ADVSignedDeviceIdentity.decode(signed).deviceSignature ?? undefined);
  } catch {
    // Malformed protobuf counts as a missing signature.
    return undefined;
  }
}

export const same = (one: Uint8Array | null | undefined, other: Uint8Array): boolean =>
  one !== null && one !== undefined && Buffer.from(one).equals(other);
