/**
 * A strict listener between a client and the platform. It refuses stanzas that differ from the documented forms, and unknown ones. It shares no code with the
 * simulated platform, because the bare codec decodes the stanzas.
 */
import assert from 'node:assert/strict';
import { type BinaryNode, decodeBinaryNode } from '@whiskeysockets/baileys';
import { clientAnswers, clientRequests, clientStanzas } from './client-forms.ts';
import { checkForm, child, childrenOf, type Form, FormError, group, within } from './form.ts';
import { errorAnswer, notifications, platformAnswers, platformRequests, platformStanzas } from './platform-forms.ts';

export type Side = 'client' | 'platform';

/** The number of violations that are kept. Later ones follow from the first ones. */
const most = 20;

/** Returns `xmlns/type/child`, with the first child that makes a known request. Steps of the pairing code are separate requests. */
function nameOf(node: BinaryNode, known: Readonly<Record<string, Form>>): string {
  const { xmlns = '', type = '' } = node.attrs;
  const names = childrenOf(node).map(
    ({ tag, attrs }) => `${xmlns}/${type}/${tag}${tag === 'link_code_companion_reg' ? ` ${attrs['stage']}` : ''}`,
  );
  return names.find((name) => Object.hasOwn(known, name)) ?? names[0] ?? `${xmlns}/${type}/`;
}

/** Returns the group of a stanza. */
const roomOf = ({ attrs: { from, to } }: BinaryNode): string | undefined => [from, to].find((jid) => jid !== undefined && group.test(jid));

const isAnswer = ({ attrs: { type } }: BinaryNode): boolean => type === 'result' || type === 'error';

export class StanzaPeer {
  readonly #violations: string[] = [];
  /** Names of the requests of each side, by the id of the request. */
  readonly #asked: Readonly<Record<Side, Map<string, string>>> = { client: new Map(), platform: new Map() };
  /** The addressing of the members of each group, as in the last stanza. */
  readonly #addressing = new Map<string, string>();
  #turn: Promise<void> = Promise.resolve();
  #heard = 0;

  /** Checks an encoded stanza, and records a violation. */
  hear(from: Side, encoded: Uint8Array): void {
    const copy = Buffer.from(encoded);
    this.#turn = this.#turn.then(async () => {
      try {
        this.check(from, await decodeBinaryNode(copy));
      } catch (error) {
        if (this.#violations.length < most) this.#violations.push(`${from}: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
  }

  /** Throws a `FormError` if the stanza is refused. */
  check(from: Side, node: BinaryNode): void {
    this.#heard += 1;
    const found = node.tag === 'iq' ? this.#query(from, node) : this.#stanza(from, node);
    if (found === undefined) throw new FormError(`nobody knows ${describe(node)}`);
    checkForm(node, found.form, found.at);
    this.#learnAddressing(node);
    this.#checkMember(node, found.at);
  }

  /** Waits for the checks of all received stanzas. Fails if one was refused, or if no stanza was received. */
  async finished(): Promise<void> {
    await this.#turn;
    assert.deepEqual(this.#violations, [], 'each stanza has the form that others document');
    assert.ok(this.#heard > 0, 'stanzas were heard');
  }

  #stanza(from: Side, node: BinaryNode): Known | undefined {
    const isNotice = from === 'platform' && node.tag === 'notification';
    const forms = isNotice ? notifications : from === 'client' ? clientStanzas : platformStanzas;
    return known(forms, isNotice ? (node.attrs['type'] ?? '') : node.tag, isNotice ? 'notification ' : '');
  }

  /** Stores the addressing mode, which is in messages of a group, in its notifications, and in the group itself (whatsmeow `group.go` parseGroupNode). */
  #learnAddressing(node: BinaryNode): void {
    const room = roomOf(node);
    const mode = node.attrs['addressing_mode'];
    if (room !== undefined && mode !== undefined) this.#addressing.set(room, mode);
    for (const { attrs } of within(node, 'group'))
      if (attrs['id'] !== undefined && attrs['addressing_mode'] !== undefined)
        this.#addressing.set(`${attrs['id'].replace('@g.us', '')}@g.us`, attrs['addressing_mode']);
  }

  /** Checks that members of a group are named in a single form in messages and receipts (whatsmeow `message.go` parseMessageSource, `receipt.go`). */
  #checkMember(node: BinaryNode, at: string): void {
    const { participant } = node.attrs;
    const mode = this.#addressing.get(roomOf(node) ?? '');
    if (participant === undefined || mode === undefined) return;
    if (participant.endsWith('@lid') !== (mode === 'lid'))
      throw new FormError(`${at} names a member as ${participant} in a group by ${mode}`);
  }

  #query(from: Side, node: BinaryNode): Known | undefined {
    const { id = '' } = node.attrs;
    if (!isAnswer(node)) {
      const forms = from === 'client' ? clientRequests : platformRequests;
      const name = nameOf(node, forms);
      this.#asked[from].set(id, name);
      return known(forms, name, 'request ');
    }
    const requests = this.#asked[from === 'client' ? 'platform' : 'client'];
    const name = requests.get(id);
    if (name === undefined) return undefined;
    if (node.attrs['type'] === 'error') return { form: from === 'platform' ? errorAnswer : refusal, at: `error to ${name}` };
    return known(from === 'client' ? clientAnswers : platformAnswers, name, 'answer to ');
  }
}

/** The form in which a client refuses a pairing (whatsmeow `pair.go`, sendPairError). */
const refusal: Form = {
  attrs: { id: /./, to: /@?s\.whatsapp\.net$/, type: /^error$/ },
  children: { error: { attrs: { code: /^\d+$/, text: /./ } } },
};

interface Known {
  readonly form: Form;
  readonly at: string;
}

const known = (forms: Readonly<Record<string, Form>>, name: string, what: string): Known | undefined => {
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
  return form && { form, at: `${what}${name}` };
};

const describe = (node: BinaryNode): string =>
  `<${node.tag} ${JSON.stringify(node.attrs)}> with ${childrenOf(node).map(({ tag }) => tag)}${child(node, 'error') ? ' (an error)' : ''}`;
