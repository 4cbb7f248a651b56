/**
 * Makes new credentials with the one-time keys that the platform requests at the first login. A worker thread makes the keys, because Baileys
 * would block the event loop for an eighth of a second.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type AuthenticationCreds, initAuthCreds, type KeyPair } from '@whiskeysockets/baileys';
import { encodeCredentials, encodeKeyPair } from './key-codec.ts';
import type { KeyChange, Vault } from '../wire/vault-port.ts';

/** The number of keys that Baileys uploads if the platform has none (INITIAL_PREKEY_COUNT). */
const initialCount = 812;
/** The number of keys in one write. To seal and send more keys at once would block the event loop. */
const chunk = 116;

/** Key pairs by id in one block of memory. A pair has 64 bytes, the private key first. The first pair has the id 1. */
export interface FreshPreKeys {
  get(id: string): KeyPair | undefined;
  /** Deletes a used key. */
  delete(id: string): void;
}

const freshPreKeys = (block: Uint8Array): FreshPreKeys => {
  const used = new Set<string>();
  return {
    get(id) {
      const at = (Number(id) - 1) * 64;
      if (!Number.isInteger(at) || at < 0 || at + 64 > block.length || used.has(id)) return undefined;
      return { private: Buffer.from(block.subarray(at, at + 32)), public: Buffer.from(block.subarray(at + 32, at + 64)) };
    },
    delete: (id) => void used.add(id),
  };
};

const storePreKeys = async (keys: FreshPreKeys, write: (changes: readonly KeyChange[]) => Promise<void>): Promise<void> => {
  for (let from = 1; from <= initialCount; from += chunk) {
    const changes: KeyChange[] = [];
    for (let id = from; id < from + chunk && id <= initialCount; id += 1) {
      const pair = keys.get(String(id));
      if (pair !== undefined) changes.push({ type: 'pre-key', id: String(id), value: encodeKeyPair(pair) });
    }
    await write(changes);
    await turn();
  }
};

/** Makes and stores credentials. The credentials are stored last, so a crash may leave keys without credentials, but never the reverse. */
export const makeCredentials = async (options: {
  readonly vault: Vault;
  readonly instance: string;
  readonly epoch: number;
  readonly preKeys: (count: number) => Promise<Uint8Array>;
}): Promise<{ readonly creds: AuthenticationCreds; readonly fresh: FreshPreKeys }> => {
  const { vault, instance, epoch } = options;
  const fresh = freshPreKeys(await options.preKeys(initialCount));
  await turn();
  const creds: AuthenticationCreds = { ...initAuthCreds(), nextPreKeyId: initialCount + 1, firstUnuploadedPreKeyId: 1 };
  await turn();
  await storePreKeys(fresh, (keys) => vault.write(instance, epoch, { keys }));
  await vault.write(instance, epoch, { credentials: encodeCredentials(creds), keys: [] });
  return { creds, fresh };
};
