/**
 * The ceremony by which the platform links a device to an account with a passkey: request, prologue, continuation, nonce, pairing request.
 * The order and the forms follow tulir/whatsmeow, `pair-passkey.go` (2026-06-30).
 */
import { createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Curve, hkdf, type KeyPair, proto } from '@whiskeysockets/baileys';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { type CeremonyFault, type CeremonyStage, type RequestOptions, SandboxError } from '../interface.ts';
import { bytes, childBytes, node, type BinaryNode } from '../nodes.ts';
import type { Random } from '../random.ts';
import { type Passkey, rpId, webOrigin } from './authenticator.ts';

interface CeremonyInput {
  readonly passkey: Passkey;
  /** The adv secret that the phone learned from the QR code or from the pairing code. */
  readonly advSecret: Uint8Array;
  /** The client's Noise key and identity key, as registered. */
  readonly noiseKey: Uint8Array;
  readonly identity: Uint8Array;
  /** `PlatformType` of the registered DeviceProps. */
  readonly deviceType: number;
  readonly random: Random;
  readonly fault: CeremonyFault | undefined;
  /** Sends a notification that the client has to acknowledge. */
  notify(type: string, content: BinaryNode | undefined): void;
  /** Links the device under the adv secret of the pairing request. */
  link(advSecret: Uint8Array): void;
}

/** The validity of the options. In milliseconds. */
const optionsMs = 600_000;

const sha256 = (...parts: readonly Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const same = (one: Uint8Array | null | undefined, other: Uint8Array): boolean =>
  one?.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

const refuse = (text: string): never => {
  throw new SandboxError(400, text);
};

/** The Crockford-like alphabet of pairing codes, which has no 0, I, O and U. */
const alphabet = '123456789ABCDEFGHJKLMNPQRSTVWXYZ';

/** Formats five bytes as eight characters in two groups. */
function shownCode(five: Uint8Array): string {
  const bits = [...five].map((one) => one.toString(2).padStart(8, '0')).join('');
  const text = (bits.match(/.{5}/g) ?? []).map((group) => alphabet[Number.parseInt(group, 2)]).join('');
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

interface Prologue {
  readonly publicKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly commitment: Uint8Array;
}

export class PasskeyCeremony {
  stage: CeremonyStage = 'requested';
  /** The code on the phone's screen. It exists after the client revealed its nonce. */
  code: string | null = null;
  /** True if the client proved the hand-off from the scanned code. The phone then does not ask its owner to compare codes. */
  handedOff = false;
  readonly #input: CeremonyInput;
  readonly #ref: string;
  readonly #primary: KeyPair = Curve.generateKeyPair();
  readonly #nonce: Buffer;
  #options: RequestOptions;
  #madeAt = 0;
  #prologue: Prologue | null = null;

  constructor(input: CeremonyInput) {
    this.#input = input;
    this.#ref = `2@${input.random.bytes(24).toString('base64url')}`;
    this.#nonce = input.random.bytes(32);
    this.#options = this.#makeOptions();
  }

  /** Asks the client for an assertion. With `bare`, the request has no options, and the client then asks for them. */
  begin(bare = false): void {
    this.#input.notify('passkey_prologue_request', bare ? undefined : this.options());
  }

  /** Returns the current options, as a child of an answer. */
  options(): BinaryNode {
    if (Date.now() - this.#madeAt > optionsMs) this.#options = this.#makeOptions();
    return node('passkey_request_options', {}, Buffer.from(JSON.stringify(this.#options)));
  }

  ref(): BinaryNode {
    return node('ref', {}, Buffer.from(this.#ref));
  }

  /**
   * Checks the assertion and the payload, then sends the phone's ephemeral key. Throws a `SandboxError` if the platform refuses the request.
   */
  async prologue(request: BinaryNode): Promise<void> {
    if (this.stage !== 'requested') refuse('no prologue is expected');
    const payload = childBytes(request, 'prologue_payload') ?? refuse('no prologue payload');
    try {
      await this.#checkAssertion(request);
      this.handedOff = this.#checkProof(request, payload);
      this.#prologue = this.#read(payload);
    } catch (error) {
      this.stage = 'refused';
      throw error instanceof SandboxError ? error : new SandboxError(400, 'bad-request');
    }
    this.stage = 'proven';
    const { fault } = this.#input;
    for (let left = fault === 'stall' ? 0 : fault === 'twice' ? 2 : 1; left > 0; left -= 1) this.#continue();
  }

  /** Checks the nonce against the client's commitment, and computes the code that the phone shows. */
  reveal(request: BinaryNode): void {
    const nonce = bytes(request);
    const publicKey = this.#primary.public;
    if (this.stage !== 'proven' || !this.#prologue || nonce?.length !== 32) return refuse('no nonce is expected');
    if (!same(this.#prologue.commitment, sha256(this.#prologue.identity, nonce))) return refuse('the nonce is not the committed one');
    const digest = sha256(nonce, publicKey);
    this.code = shownCode(this.#nonce.subarray(0, 5).map((one, at) => one ^ (digest[at] ?? 0)));
    this.stage = 'revealed';
  }

  /** Decrypts the pairing request and links the device. Throws if the keys in the request differ from the registered keys. */
  pair(request: BinaryNode): void {
    if (this.stage !== 'revealed') return refuse('no pairing request is expected');
    const { noiseKey, identity } = this.#input;
    const { companionPublicKey, companionIdentityKey, advSecret } = this.#open(bytes(request) ?? refuse('no pairing request'));
    if (!same(companionPublicKey, noiseKey) || !same(companionIdentityKey, identity) || advSecret?.length !== 32)
      return refuse('the pairing request names other keys');
    this.stage = 'linking';
    this.#input.link(advSecret);
  }

  #makeOptions(): RequestOptions {
    const { passkey, random } = this.#input;
    this.#madeAt = Date.now();
    return {
      challenge: random.bytes(32).toString('base64url'),
      timeout: optionsMs,
      rpId,
      allowCredentials: [{ id: passkey.id, type: 'public-key' }],
      userVerification: 'required',
      extensions: { uvm: true },
    };
  }

  #continue(): void {
    const identity = proto.PrimaryEphemeralIdentity.encode({ publicKey: this.#primary.public, nonce: this.#nonce }).finish();
    this.#input.notify('crsc_continuation', node('primary_ephemeral_identity', {}, identity));
  }

  async #checkAssertion(request: BinaryNode): Promise<void> {
    const { passkey, fault } = this.#input;
    const credential = childBytes(request, 'credential_id');
    const text = childBytes(request, 'webauthn_assertion');
    if (fault === 'refuse' || !credential || !text) return refuse('bad-request');
    if (credential.toString('base64url') !== passkey.id) return refuse('another passkey');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { clientExtensionResults: {}, ...JSON.parse(text.toString()) },
      expectedChallenge: this.#options.challenge,
      expectedOrigin: webOrigin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: { id: passkey.id, publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')), counter: passkey.counter },
    });
    if (!verified) return refuse('the assertion is not right');
    passkey.counter = authenticationInfo.newCounter;
  }

  /** Returns true if the client proved the hand-off. Throws if the proof is wrong. */
  #checkProof(request: BinaryNode, payload: Uint8Array): boolean {
    const proof = childBytes(request, 'pairing_handoff_proof');
    if (!proof) return false;
    const key = Buffer.from(hkdf(Buffer.from(this.#input.advSecret), 32, { info: 'shortcake-passkey-handoff-v1' }));
    if (!same(proof, createHmac('sha256', key).update(payload).digest())) return refuse('the hand-off proof is wrong');
    return true;
  }

  #read(payload: Uint8Array): Prologue {
    const { companionEphemeralIdentity: identity, commitment } = proto.ProloguePayload.decode(payload);
    if (!identity || commitment?.hash?.length !== 32) return refuse('the prologue is not complete');
    const { publicKey, deviceType, ref } = proto.CompanionEphemeralIdentity.decode(identity);
    if (publicKey?.length !== 32 || ref !== this.#ref || deviceType !== this.#input.deviceType)
      return refuse('the prologue names another device, reference or key');
    return { publicKey, identity, commitment: commitment.hash };
  }

  #open(request: Uint8Array): proto.IPairingRequest {
    const { encryptedPayload, iv } = proto.EncryptedPairingRequest.decode(request);
    if (!encryptedPayload || iv?.length !== 12) return refuse('the pairing request is not complete');
    const shared = Curve.sharedKey(this.#primary.private, this.#prologue?.publicKey ?? Buffer.alloc(32));
    const salt = Buffer.from(`Companion Pairing ${this.#input.deviceType} with ref ${this.#ref}`);
    const key = Buffer.from(hkdf(shared, 32, { salt, info: 'Pairing Information Encryption Key' }));
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, iv);
      decipher.setAuthTag(encryptedPayload.subarray(-16));
      const plain = Buffer.concat([decipher.update(encryptedPayload.subarray(0, -16)), decipher.final()]);
      return proto.PairingRequest.decode(plain);
    } catch {
      return refuse('the pairing request cannot be opened');
    }
  }
}
