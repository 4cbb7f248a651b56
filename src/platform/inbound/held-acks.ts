/**
 * Holds the acknowledgements of receipts, notifications and calls until the resulting entries are committed.
 *
 * The platform keeps a stanza until it is acknowledged, and repeats it at the next login. The library acknowledges these stanzas at the end of their
 * handlers, so a kill before the commit would lose them. Unlike messages, these stanzas are not written to the durable log. Each would cost a write, and
 * a busy instance gets several receipts for each message.
 */
import { type BinaryNode, type Contact, decodeMessageNode, isJidNewsletter, isLidUser, type WASocket } from '@whiskeysockets/baileys';

/** The error that the library gets when it builds a held acknowledgement. The library logs this error as the reason for which no acknowledgement was sent. */
export const ackHeld = new Error('the acknowledgement is held until everything is stored');
ackHeld.stack = '';

/**
 * Returns a copy of the stanza for the library. The library reads the tag once, at the end of the handler, to build the acknowledgement. This read calls
 * `handled`, and makes the library's own acknowledgement fail.
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

/**
 * Removes the attribute `offline`, which marks a stanza that the platform kept while the session was away. The library would queue a marked stanza, and its
 * handler would return before the stanza is handled.
 */
export const unmarked = (node: BinaryNode): BinaryNode => {
  const { offline, ...attrs } = node.attrs;
  return offline === undefined ? node : { ...node, attrs };
};

interface HeldAcksOptions {
  /** Resolves with true when all entries of these stanzas are stored, and with false if they never will be. Never rejects. */
  stored(nodes: readonly BinaryNode[]): Promise<boolean>;
  /** Called when the entries of these stanzas are stored. A repetition of such a stanza needs only an acknowledgement. */
  finished(nodes: readonly BinaryNode[]): void;
  /** Called when the acknowledgements of these stanzas were sent, or could not be sent. */
  released(nodes: readonly BinaryNode[]): void;
  /** Sends the acknowledgement of a stanza. Rejects if the connection has ended. The platform then repeats the stanza. */
  acknowledge(node: BinaryNode): Promise<void>;
  /** Reports an error. The affected stanzas are not acknowledged, so that the platform repeats them. */
  failed(error: unknown): void;
}

/** The largest number of acknowledgements in one turn of the event loop. */
const mostInTurn = 64;

export class HeldAcks {
  readonly #options: HeldAcksOptions;
  #waiting: BinaryNode[] = [];
  #working: Promise<void> | null = null;
  #closed = false;

  constructor(options: HeldAcksOptions) {
    this.#options = options;
  }

  /** Adds a stanza whose handler has ended. */
  add(node: BinaryNode): void {
    this.#waiting.push(node);
    this.#working ??= this.#work();
  }

  /** Stops acknowledging, so that the platform repeats the remaining stanzas. Resolves when the entries of all stanzas are stored, or can never be stored. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  /** Acknowledges stanzas in groups. Stanzas that are added while a group is stored form the next group. Never rejects. */
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

// The receipt of a repeated message. It is the same as the library's receipt, and is sent without handing the message to the library again.

/** Sends the receipt after which the platform deletes the message. Rejects if the connection has ended. The platform then repeats the message. */
export const confirmReceived = async (sock: WASocket, me: Contact | undefined, node: BinaryNode): Promise<void> => {
  const { fullMessage, author } = decodeMessageNode(node, me?.id ?? '', me?.lid ?? '');
  const { remoteJid, remoteJidAlt, participant, fromMe, id } = fullMessage.key;
  if (!remoteJid || !id) return;
  if (isJidNewsletter(remoteJid)) return sock.sendMessageAck(node);
  // For an own message in a chat known by LID, the receipt is sent to the device that wrote it.
  const to = fromMe && (isLidUser(remoteJid) || isLidUser(remoteJidAlt ?? undefined)) ? author : (participant ?? undefined);
  const type = node.attrs['category'] === 'peer' ? 'peer_msg' : fromMe ? 'sender' : 'inactive';
  await sock.sendReceipt(remoteJid, to, [id], type);
};
