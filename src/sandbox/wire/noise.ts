/**
 * The server's side of the Noise handshakes (25519, AES-GCM, SHA-256) and of the encrypted transport after them. The form of IK and of XXfallback is the
 * one of vinikjkkj/zapo (`src/transport/noise/WaNoiseSession.ts`).
 */
import { aesDecryptGCM, aesEncryptGCM, Curve, hkdf, NOISE_MODE, sha256, type KeyPair } from '@whiskeysockets/baileys';

const empty = Buffer.alloc(0);

/** AES-GCM nonce: eight zero bytes, then the counter. */
function nonce(counter: number): Uint8Array {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
}

export interface Transport {
  seal(plaintext: Uint8Array): Uint8Array;
  open(ciphertext: Uint8Array): Uint8Array;
}

/** Names of the patterns as the first hash: 32 bytes as they are, a longer name hashed. */
const patterns = {
  XX: Buffer.from(NOISE_MODE),
  IK: Buffer.from('Noise_IK_25519_AESGCM_SHA256\0\0\0\0'),
  XXfallback: sha256(Buffer.from('Noise_XXfallback_25519_AESGCM_SHA256')),
};

/** The first frame of a client that knows the server's key. */
export interface Resumption {
  readonly ephemeral: Uint8Array;
  readonly static: Uint8Array;
  readonly payload: Uint8Array;
}

interface Opened {
  readonly clientStatic: Buffer;
  readonly payload: Buffer;
}

/**
 * Order of calls for XX and XXfallback: `readHello`, `writeHello`, `readFinish`, `split`; for IK: `readResumption`, `writeResumption`, `split`. Reading
 * throws when the bytes are not authentic.
 */
export class NoiseResponder {
  #hash: Buffer;
  #salt: Uint8Array;
  #key: Uint8Array;
  #counter = 0;
  #clientEphemeral: Uint8Array = empty;
  readonly #ephemeral = Curve.generateKeyPair();

  constructor(header: Uint8Array, pattern: keyof typeof patterns = 'XX') {
    this.#hash = patterns[pattern];
    this.#salt = this.#hash;
    this.#key = this.#hash;
    this.#mixHash(header);
  }

  readResumption(staticKey: KeyPair, hello: Resumption): Opened {
    this.#mixHash(staticKey.public);
    this.readHello(hello.ephemeral);
    this.#mixKey(Curve.sharedKey(staticKey.private, hello.ephemeral));
    const clientStatic = this.#decrypt(hello.static);
    this.#mixKey(Curve.sharedKey(staticKey.private, clientStatic));
    return { clientStatic, payload: this.#decrypt(hello.payload) };
  }

  writeResumption(clientStatic: Uint8Array, chain: Uint8Array): { ephemeral: Uint8Array; payload: Uint8Array } {
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, this.#clientEphemeral));
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, clientStatic));
    return { ephemeral: this.#ephemeral.public, payload: this.#encrypt(chain) };
  }

  readHello(clientEphemeral: Uint8Array): void {
    this.#mixHash(clientEphemeral);
    this.#clientEphemeral = clientEphemeral;
  }

  writeHello(staticKey: KeyPair, chain: Uint8Array): { ephemeral: Uint8Array; static: Uint8Array; payload: Uint8Array } {
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, this.#clientEphemeral));
    const sealedStatic = this.#encrypt(staticKey.public);
    this.#mixKey(Curve.sharedKey(staticKey.private, this.#clientEphemeral));
    return { ephemeral: this.#ephemeral.public, static: sealedStatic, payload: this.#encrypt(chain) };
  }

  readFinish(sealedStatic: Uint8Array, payload: Uint8Array): Opened {
    const clientStatic = this.#decrypt(sealedStatic);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, clientStatic));
    return { clientStatic, payload: this.#decrypt(payload) };
  }

  split(): Transport {
    const [read, write] = this.#derive(empty);
    let sealed = 0;
    let opened = 0;
    return {
      seal: (plaintext) => aesEncryptGCM(plaintext, write, nonce(sealed++), empty),
      open: (ciphertext) => aesDecryptGCM(ciphertext, read, nonce(opened++), empty),
    };
  }

  #derive(material: Uint8Array): [Uint8Array, Uint8Array] {
    const output = hkdf(Buffer.from(material), 64, { salt: Buffer.from(this.#salt), info: '' });
    return [output.subarray(0, 32), output.subarray(32)];
  }

  #mixKey(material: Uint8Array): void {
    [this.#salt, this.#key] = this.#derive(material);
    this.#counter = 0;
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  #encrypt(plaintext: Uint8Array): Buffer {
    const result = aesEncryptGCM(plaintext, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(result);
    return result;
  }

  #decrypt(ciphertext: Uint8Array): Buffer {
    const result = aesDecryptGCM(ciphertext, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(ciphertext);
    return result;
  }
}
