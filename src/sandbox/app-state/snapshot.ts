/** Snapshots: a whole collection as one encrypted file on the media host, for devices that know nothing of it yet. */
import { createCipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys';
import type { Media } from '../media.ts';
import type { Random } from '../random.ts';
import type { Collection, SharedKey } from './collection.ts';

interface Made {
  readonly version: number;
  readonly reference: Buffer;
}

export class Snapshots {
  /** The last file of each collection, so that a collection which did not change is not stored again. */
  readonly #made = new WeakMap<Collection, Made>();
  readonly #media: Media;
  readonly #random: Random;

  constructor(media: Media, random: Random) {
    this.#media = media;
    this.#random = random;
  }

  /** The encoded reference to the file of the current version. */
  of(collection: Collection, key: SharedKey): Buffer {
    const known = this.#made.get(collection);
    if (known?.version === collection.version) return known.reference;
    const { version } = collection;
    const snapshot = proto.SyncdSnapshot.encode({
      version: { version },
      records: [...collection.entries.values()].map(({ record }) => record),
      mac: collection.snapshotMac(key.keys),
      keyId: { id: key.id },
    }).finish();
    const reference = Buffer.from(proto.ExternalBlobReference.encode(this.#seal(snapshot)).finish());
    this.#made.set(collection, { version, reference });
    return reference;
  }

  #seal(plain: Uint8Array): proto.IExternalBlobReference {
    const mediaKey = this.#random.bytes(32);
    const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), 'WhatsApp App State Keys', 112));
    const [iv, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)];
    const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
    const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
    const mac = createHmac('sha256', macKey).update(iv).update(ciphertext).digest().subarray(0, 10);
    const file = Buffer.concat([ciphertext, mac]);
    return {
      mediaKey,
      directPath: this.#media.keepNow(file),
      fileSizeBytes: plain.length,
      fileSha256: hash(plain),
      fileEncSha256: hash(file),
    };
  }
}

const hash = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();
