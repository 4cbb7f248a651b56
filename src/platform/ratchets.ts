/**
 * Signal sessions whose every step is a transaction of its own, one after the other, and known to the storage's writer before its frame leaves.
 *
 * The library commits the ratchet of a message after the frame was written, together with everything else of the send. What arrives
 * meanwhile then overwrites the chain or is overwritten by it, and a crash leaves a stored chain that is behind.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import {
  DEFAULT_CONNECTION_CONFIG,
  type SignalDataSet,
  type SignalKeyStoreWithTransaction,
  type SocketConfig,
} from '@whiskeysockets/baileys';
import { rememberLids } from './lid-memory.ts';

/** One step: what it changed. */
export interface Step {
  /** It made keys that the contact answers with: they must be stored before a frame tells of them. */
  readonly fresh: boolean;
  readonly touched: [type: string, id: string][];
}

export interface RatchetHost {
  /** What a ciphertext said when it was decrypted. */
  plaintext(hash: string): Uint8Array | undefined;
  /** Changes that are set from now on belong to this step. */
  begin(step: Step): void;
  /** What the work sets is stored together. */
  together<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when a frame may leave that this step made. */
  mayLeave(step: Step): Promise<void>;
}

/** Where plaintexts stand among the keys, by the hash of their ciphertext. */
export const plainType = 'inbound-plain';
export const hashOf = (ciphertext: Uint8Array): string => hash('sha256', ciphertext, 'base64url');

const lock = 'ratchet';

type Make = SocketConfig['makeSignalRepository'];

export const ratchetsOf =
  (host: RatchetHost): Make =>
  (auth, logger, pnToLid) => {
    const inner = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, pnToLid);
    rememberLids(inner.lidMapping);
    const keys = auth.keys as SignalKeyStoreWithTransaction;
    /** Out of the transaction of whoever calls: a send's lasts until its frame is written. */
    const outside = AsyncLocalStorage.snapshot();

    const take = <T>(step: Step, work: () => Promise<T>): Promise<T> =>
      outside(() =>
        keys.transaction(() => {
          host.begin(step);
          return work();
        }, lock),
      );
    const alone = <T>(fresh: boolean, work: () => Promise<T>): Promise<T> => take({ fresh, touched: [] }, work);

    /** The plaintext is stored with what it cost the ratchet: whichever half a crash kept would be worthless alone. */
    const opened = async (ciphertext: Uint8Array, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array> => {
      const id = hashOf(ciphertext);
      const known = host.plaintext(id);
      if (known !== undefined) return known;
      const work = async (): Promise<Uint8Array> => {
        const plain = await decrypt();
        await keys.set({ [plainType]: { [id]: plain } } as SignalDataSet);
        return plain;
      };
      return host.together(() => alone(true, work));
    };

    const sealed = async <T>(encrypt: () => Promise<T>): Promise<T> => {
      const step: Step = { fresh: false, touched: [] };
      const result = await take(step, encrypt);
      await host.mayLeave(step);
      return result;
    };

    return {
      ...inner,
      decryptMessage: (options) => opened(options.ciphertext, () => inner.decryptMessage(options)),
      decryptGroupMessage: (options) => opened(options.msg, () => inner.decryptGroupMessage(options)),
      encryptMessage: (options) => sealed(() => inner.encryptMessage(options)),
      encryptGroupMessage: (options) => sealed(() => inner.encryptGroupMessage(options)),
      getSenderKeyDistributionMessage: (options) => sealed(() => inner.getSenderKeyDistributionMessage(options)),
      processSenderKeyDistributionMessage: (options) => alone(false, () => inner.processSenderKeyDistributionMessage(options)),
      injectE2ESession: (options) => alone(true, () => inner.injectE2ESession(options)),
      migrateSession: (from, to) => alone(false, () => inner.migrateSession(from, to)),
      deleteSession: (jids) => alone(false, () => inner.deleteSession(jids)),
    };
  };
