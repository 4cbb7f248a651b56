/** Requests about pre-keys: their count, uploads, and the bundles from which sessions start. */
import { createHash } from 'node:crypto';
import { Curve } from '@whiskeysockets/baileys';
import { deviceKey } from '../address.ts';
import { SandboxError } from '../face.ts';
import { child, childBytes, childNumber, children, node, uint, unixSeconds } from '../nodes.ts';
import { type Bundle, bundleNodes, readPreKeys, readSignedPreKey, verify, withType } from '../signal/identity.ts';
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

  // The list and the hash as vinikjkkj/zapo checks them (`src/signal/api/SignalDigestSyncApi.ts`).
  'encrypt/get/digest': ({ parts, device }) => {
    const { registrationId, identity, signedPreKey } = device;
    const preKeys = parts.keys.preKeys(deviceKey(device.number, device.device));
    const hash = createHash('sha1');
    for (const part of [identity, signedPreKey.value, signedPreKey.signature, ...preKeys.map(({ value }) => value)]) hash.update(part);
    const ids = preKeys.map(({ id }) => node('id', {}, uint(id, 3)));
    const bundle = bundleNodes({ registrationId, identity, signedPreKey });
    return [node('digest', {}, [...bundle, node('list', {}, ids), node('hash', {}, hash.digest())])];
  },

  // Keys of single devices (vinikjkkj/zapo `src/transport/node/builders/prekeys.ts`, `buildMissingPreKeysFetchIq`).
  'encrypt/get/key_fetch': ({ parts, request }) => {
    const users = children(request, 'user')
      .slice(0, maxBundles)
      .map((user) => {
        const { jid } = user.attrs;
        const person = parts.people.resolve(jid)?.person;
        if (!person) return node('user', { jid }, [node('error', { code: '404', text: 'item-not-found' })]);
        const devices = children(user, 'device').flatMap(({ attrs: { id } }) => {
          const bundle = parts.bundles.of(person, Number(id));
          return bundle ? [node('device', { id }, bundleNodes(bundle))] : [];
        });
        return node('user', { jid }, devices);
      });
    return [node('list', {}, users)];
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
