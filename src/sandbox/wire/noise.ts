/** The server's side of the Noise XX handshake (25519, AES-GCM, SHA-256) and of the encrypted transport after it. */
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

/** Order of calls: `readHello`, `writeHello`, `readFinish`, `split`. Reading throws when the bytes are not authentic. */
export class NoiseResponder {
  #hash: Buffer = Buffer.from(NOISE_MODE);
  #salt: Uint8Array = this.#hash;
  #key: Uint8Array = this.#hash;
  #counter = 0;
  #clientEphemeral: Uint8Array = empty;
  readonly #ephemeral = Curve.generateKeyPair();

  constructor(header: Uint8Array) {
    this.#mixHash(header);
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

  readFinish(sealedStatic: Uint8Array, payload: Uint8Array): { clientStatic: Buffer; payload: Buffer } {
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
