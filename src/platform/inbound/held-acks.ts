/**
 * Acknowledgements of receipts, notifications and calls: held until the entries that they led to are committed, then sent.
 *
 * The platform keeps a stanza until it is acknowledged, and repeats it at the next login. The library acknowledges these stanzas at the end
 * of their handlers; a kill before the commit would lose them. Logging them too would cost a write each, and a busy instance gets several
 * receipts a message.
 */
import { type BinaryNode, type Contact, decodeMessageNode, isJidNewsletter, isLidUser, type WASocket } from '@whiskeysockets/baileys';

/** Thrown at the library when it makes an acknowledgement that is held. It logs this as the reason why none was sent. */
export const ackHeld = new Error('the acknowledgement is held until everything is stored');
ackHeld.stack = '';

/**
 * The stanza as the library gets it. The library reads its tag once, to make the acknowledgement at the end of the handler; `handled` is called
 * then, and the library's own acknowledgement fails.
 */
export const withHeldAck = ({ attrs, content }: BinaryNode, handled: () => void): BinaryNode => {
  let once = handled;
  return {
    attrs,
    ...(content === undefined ? {} : { content }),
    get tag(): string {
      once();
      once = () => undefined;
      throw ackHeld;
    },
  };
};

interface HeldAcksOptions {
  /** Resolves with true when all entries of these stanzas are stored, and with false if they never will be. Never rejects. */
  stored(nodes: readonly BinaryNode[]): Promise<boolean>;
  /** Takes stanzas whose repetitions need only an acknowledgement from now on. */
  finished(nodes: readonly BinaryNode[]): void;
  /** Called when the acknowledgements of these stanzas were sent, or could not be sent. */
  released(nodes: readonly BinaryNode[]): void;
  /** Tells the platform that a stanza was received. Rejects when the connection has ended: then the stanza is repeated. */
  acknowledge(node: BinaryNode): Promise<void>;
  /** Reports an error, after which no stanza is acknowledged. */
  failed(error: unknown): void;
}

/** Acknowledgements in one turn of the event loop. */
const mostInTurn = 64;

export class HeldAcks {
  readonly #options: HeldAcksOptions;
  #waiting: BinaryNode[] = [];
  #working: Promise<void> | null = null;
  #closed = false;

  constructor(options: HeldAcksOptions) {
    this.#options = options;
  }

  /** The library is done with this stanza. */
  add(node: BinaryNode): void {
    this.#waiting.push(node);
    this.#working ??= this.#work();
  }

  /** Stops acknowledging, so that the platform repeats the rest. Resolves when the consequences of all stanzas are stored. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  /** Stanzas that are handled while others are being stored are the next group. Never rejects. */
  async #work(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const group = this.#waiting.splice(0);
        if (!(await this.#options.stored(group))) continue;
        this.#options.finished(group);
        await this.#acknowledge(group);
      }
    } catch (error) {
      this.#options.failed(error);
    } finally {
      this.#working = null;
    }
  }

  async #acknowledge(group: readonly BinaryNode[]): Promise<void> {
    for (let from = 0; from < group.length && !this.#closed; from += mostInTurn) {
      const nodes = group.slice(from, from + mostInTurn);
      await Promise.allSettled(nodes.map((node) => this.#options.acknowledge(node)));
      this.#options.released(nodes);
      await new Promise(setImmediate);
    }
  }
}

// Confirms a repeated message to the platform as the library does after reading one, without giving it to the library again.

/** Sends the receipt after which the platform forgets the message. Rejects if the connection has ended. The platform then repeats the message. */
export const confirmReceived = async (sock: WASocket, me: Contact | undefined, node: BinaryNode): Promise<void> => {
  const { fullMessage, author } = decodeMessageNode(node, me?.id ?? '', me?.lid ?? '');
  const { remoteJid, remoteJidAlt, participant, fromMe, id } = fullMessage.key;
  if (!remoteJid || !id) return;
  if (isJidNewsletter(remoteJid)) return sock.sendMessageAck(node);
  // For an own message in a chat known by LID, the receipt goes to the device that wrote it.
  const to = fromMe && (isLidUser(remoteJid) || isLidUser(remoteJidAlt ?? undefined)) ? author : (participant ?? undefined);
  const type = node.attrs['category'] === 'peer' ? 'peer_msg' : fromMe ? 'sender' : 'inactive';
  await sock.sendReceipt(remoteJid, to, [id], type);
};
