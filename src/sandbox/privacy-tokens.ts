/**
 * Privacy tokens (tulir/whatsmeow `tctoken.go`, `notification.go`). A person gives a token to a contact. The contact sends the token with messages to the
 * person, and with requests that add the person to a group. A contact has one token of each person. If the person issues the token again, only the time of the
 * token changes.
 */
import { jidOf, lidJid, toldPn } from './address.ts';
import type { Connections } from './connections.ts';
import { bytes, child, node, unixSeconds, type BinaryNode } from './nodes.ts';
import type { People, Person } from './people.ts';
import type { Random } from './random.ts';
import type { Records } from './store/database.ts';

interface Token {
  readonly token: Buffer;
  /** The time of the last issue, in Unix milliseconds. */
  readonly at: number;
}

const tokenBytes = 16;
const kind = 'privacy-token';

export class PrivacyTokens {
  readonly #records: Records;
  readonly #people: People;
  readonly #connections: Connections;
  readonly #random: Random;

  constructor(records: Records, people: People, connections: Connections, random: Random) {
    this.#records = records;
    this.#people = people;
    this.#connections = connections;
    this.#random = random;
  }

  /** Issues the owner's token for a contact, and notifies the contact's linked devices. */
  issue(owner: Person, contact: Person, at: number): void {
    const { token } = this.#renewed(owner, contact, at);
    const pn = toldPn(owner);
    const lid = lidJid(owner.lid);
    const attrs = { from: pn ?? lid, sender_lid: pn && lid, type: 'privacy_token', t: unixSeconds(Date.now()) };
    for (const device of this.#people.devices(contact.number)) {
      const jid = jidOf(contact, 'pn', device.device);
      const content = node('tokens', {}, [node('token', { jid, t: unixSeconds(at), type: 'trusted_contact' }, token)]);
      this.#connections.deliver(device, node('notification', { ...attrs, id: this.#random.id() }, [content]));
    }
  }

  /** Makes the element `<tctoken>` that the owner's phone adds to a message to the contact. */
  besideMessage(owner: Person, contact: Person): BinaryNode {
    const { token, at } = this.#renewed(owner, contact, Date.now());
    return node('tctoken', { t: unixSeconds(at) }, token);
  }

  /** Returns true if the contact sent the owner's token in the child `tag` of the stanza, or if the owner requires no token. */
  isShown(owner: Person, contact: Person, stanza: BinaryNode, tag: 'tctoken' | 'privacy'): boolean {
    if (!owner.needsTokens || owner === contact) return true;
    const shown = bytes(child(stanza, tag));
    const known = this.#records.get<Token>(kind, nameOf(owner, contact));
    return known !== undefined && shown?.equals(known.token) === true;
  }

  #renewed(owner: Person, contact: Person, at: number): Token {
    const name = nameOf(owner, contact);
    const token = this.#records.get<Token>(kind, name)?.token ?? this.#random.bytes(tokenBytes);
    this.#records.put(kind, name, { token, at });
    return { token, at };
  }
}

const nameOf = (owner: Person, contact: Person): string => `${owner.number}:${contact.number}`;
