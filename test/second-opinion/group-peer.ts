/**
 * A member of a group with sender keys of the library of Signal. That library names chains by UUID, and the platform by number, in other fields of the same
 * messages, so the peer translates. Each translated message is signed again: incoming ones are verified before, and outgoing ones signed, by the library.
 */
import { randomUUID } from 'node:crypto';
import {
  groupDecrypt,
  groupEncrypt,
  PrivateKey,
  processSenderKeyDistributionMessage,
  ProtocolAddress,
  PublicKey,
  SenderKeyDistributionMessage,
  SenderKeyMessage,
  type SenderKeyRecord,
  SenderKeyStore,
  type Uuid,
} from '@signalapp/libsignal-client';
import { proto } from '@whiskeysockets/baileys';

/** The end of one member in a group of two. */
export interface GroupEnd {
  /** Returns the key with which the other member reads later messages. */
  distribution(): Promise<Uint8Array>;
  learn(distribution: Uint8Array): Promise<void>;
  write(text: string): Promise<Uint8Array>;
  /** Decrypts a message. Rejects if the message cannot be read. */
  read(message: Uint8Array): Promise<string>;
  /** Renews the key. Members who left cannot read later messages. */
  renew(): Promise<void>;
}

class SenderKeys extends SenderKeyStore {
  readonly #stored = new Map<string, SenderKeyRecord>();

  async saveSenderKey(sender: ProtocolAddress, distributionId: Uuid, record: SenderKeyRecord): Promise<void> {
    this.#stored.set(`${sender.name()} ${distributionId}`, record);
  }

  async getSenderKey(sender: ProtocolAddress, distributionId: Uuid): Promise<SenderKeyRecord | null> {
    return this.#stored.get(`${sender.name()} ${distributionId}`) ?? null;
  }
}

/** Both halves of the first byte: the version of the protocol and the oldest compatible one. */
const version = Buffer.of(0x33);
const signatureBytes = 64;

export class SignalGroupPeer implements GroupEnd {
  readonly #keys = new SenderKeys();
  readonly #me = ProtocolAddress.new('this member', 1);
  readonly #other = ProtocolAddress.new('the other member', 1);
  /** The chains of the other member, by their number at the platform. */
  readonly #chains = new Map<number, { readonly id: Uuid; readonly signer: PublicKey }>();
  readonly #signing = PrivateKey.generate();
  #own: Uuid = randomUUID();

  async distribution(): Promise<Uint8Array> {
    const made = await SenderKeyDistributionMessage.create(this.#me, this.#own, this.#keys);
    const fields = { id: made.chainId(), iteration: made.iteration(), chainKey: made.chainKey() };
    const signingKey = this.#signing.getPublicKey().serialize();
    return Buffer.concat([version, proto.SenderKeyDistributionMessage.encode({ ...fields, signingKey }).finish()]);
  }

  async learn(distribution: Uint8Array): Promise<void> {
    const { id, iteration, chainKey, signingKey } = proto.SenderKeyDistributionMessage.decode(distribution.subarray(1));
    const chain = { id: this.#chains.get(id ?? 0)?.id ?? randomUUID(), signer: PublicKey.deserialize(Buffer.from(signingKey ?? [])) };
    this.#chains.set(id ?? 0, chain);
    const key = this.#signing.getPublicKey();
    const translated = SenderKeyDistributionMessage._new(3, chain.id, id ?? 0, iteration ?? 0, Buffer.from(chainKey ?? []), key);
    await processSenderKeyDistributionMessage(this.#other, translated, this.#keys);
  }

  async write(text: string): Promise<Uint8Array> {
    const sealed = await groupEncrypt(this.#me, this.#own, this.#keys, Buffer.from(text));
    const message = SenderKeyMessage.deserialize(sealed.serialize());
    const fields = { id: message.chainId(), iteration: message.iteration(), ciphertext: message.ciphertext() };
    const signed = Buffer.concat([version, proto.SenderKeyMessage.encode(fields).finish()]);
    return Buffer.concat([signed, this.#signing.sign(signed)]);
  }

  async read(message: Uint8Array): Promise<string> {
    const signed = Buffer.from(message.subarray(0, -signatureBytes));
    const { id, iteration, ciphertext } = proto.SenderKeyMessage.decode(signed.subarray(1));
    const chain = this.#chains.get(id ?? 0);
    if (chain === undefined) throw new Error(`no key of chain ${id}`);
    if (!chain.signer.verify(signed, Buffer.from(message.subarray(-signatureBytes)))) throw new Error('wrong signature');
    const translated = SenderKeyMessage._new(3, chain.id, id ?? 0, iteration ?? 0, Buffer.from(ciphertext ?? []), this.#signing);
    return (await groupDecrypt(this.#other, this.#keys, translated.serialize())).toString();
  }

  async renew(): Promise<void> {
    this.#own = randomUUID();
  }
}
