/** Requests about pre-keys: their count, uploads, and the bundles from which sessions start. */
import { Curve } from '@whiskeysockets/baileys';
import { deviceKey } from '../address.ts';
import { SandboxError } from '../face.ts';
import { child, childBytes, childNumber, children, node, unixSeconds } from '../nodes.ts';
import { verify, withType } from '../signatures.ts';
import { type Bundle, bundleNodes, readPreKeys, readSignedPreKey } from '../signal/identity.ts';
import type { DeviceQueries, DeviceQuery } from './query.ts';

/** Devices in one request at most. */
const maxBundles = 5000;

/** Stores a signed pre-key. Throws when the signature is not the device's. */
function acceptSignedPreKey({ parts, device }: DeviceQuery, skey: ReturnType<typeof readSignedPreKey>): void {
  if (!skey) throw new SandboxError(406, 'not-acceptable');
  const known = device.signedPreKey.id === skey.id && Buffer.from(device.signedPreKey.value).equals(skey.value);
  if (known) return;
  if (!parts.counters.signature(verify(device.identity, withType(skey.value), skey.signature)))
    throw new SandboxError(406, 'not-acceptable');
  device.signedPreKey = skey;
  parts.people.saveDevice(device);
}

/** The signature stays, and the key that it was made for does not. */
const forge = (bundle: Bundle): Bundle => ({ ...bundle, signedPreKey: { ...bundle.signedPreKey, value: Curve.generateKeyPair().public } });

export const keyQueries: DeviceQueries = {
  'encrypt/get/count': ({ parts, device }) => {
    const value = String(parts.keys.countPreKeys(deviceKey(device.number, device.device)));
    return [node('count', { value })];
  },

  'encrypt/set/registration': (query) => {
    const { parts, device, stanza } = query;
    const identity = childBytes(stanza, 'identity', 32);
    const registrationId = childNumber(stanza, 'registration', 4);
    if (!identity?.equals(device.identity) || registrationId !== device.registrationId) throw new SandboxError(406, 'not-acceptable');
    acceptSignedPreKey(query, readSignedPreKey(stanza));
    parts.keys.addPreKeys(deviceKey(device.number, device.device), readPreKeys(child(stanza, 'list')));
    return undefined;
  },

  'encrypt/set/rotate': (query) => {
    acceptSignedPreKey(query, readSignedPreKey(query.request));
    return undefined;
  },

  'encrypt/get/digest': ({ device }) => {
    const { registrationId, identity, signedPreKey } = device;
    return [node('digest', {}, bundleNodes({ registrationId, identity, signedPreKey }))];
  },

  'encrypt/get/key': ({ parts, device, request }) => {
    const t = unixSeconds(Date.now());
    const users = children(request, 'user')
      .slice(0, maxBundles)
      .flatMap(({ attrs: { jid } }) => {
        const found = parts.people.resolve(jid);
        const bundle = found && parts.bundles.of(found.person, found.device);
        if (!bundle) return [];
        const forged = found.person.number !== device.number && parts.faults.take('forgedKeys', device.number, found.person.number);
        return [node('user', { jid, t }, bundleNodes(forged ? forge(bundle) : bundle))];
      });
    return [node('list', {}, users)];
  },
};
