/**
 * What one connection offers to a phone that may link the session: QR texts, one after the other, or a pairing code for the number that was asked
 * for last. A code takes the place of the QR texts, or of another number's code, on the same connection.
 */
import { getBinaryNodeChild, getBinaryNodeChildren, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import type { Close, PlatformFact } from '#actors/ports.ts';
import { closeOf, ownCloses } from './close-cause.ts';

export interface PairingOfferInput {
  /** The number to make a code for; null: QR texts. */
  readonly phone: string | null;
  /** Milliseconds: for the platform's answer to a request, for all QR texts together, for a code. */
  readonly deadlines: { readonly login: number; readonly pairingQr: number; readonly pairingCode: number };
  readonly emit: (fact: PlatformFact) => void;
  /** Replaces the deadline of the connection. */
  readonly expect: (ms: number, close: Close) => void;
  readonly fail: (close: Close) => void;
}

/** The part of the library's socket that is needed here. */
export type PairingSocket = Pick<WASocket, 'requestPairingCode'> & { readonly ws: Pick<WASocket['ws'], 'on' | 'off' | 'listenerCount'> };

/** The answer to `companion_hello`, whose request the library writes without waiting for an answer. */
const accepted = 'CB:iq,type:result,link_code_companion_reg';
const refused = 'CB:iq,type:error';

const digitsOf = (phone: string): string => phone.replaceAll(/\D/g, '');

export class PairingOffer {
  readonly #input: PairingOfferInput;
  readonly #sock: PairingSocket;
  #phone: string | null;
  /** What the platform gave for QR texts. */
  #refs: readonly string[] = [];
  #nextText: NodeJS.Timeout | undefined;
  /** The platform is ready to link a device. */
  #ready = false;
  #requesting = false;
  #ended = false;

  constructor(sock: PairingSocket, input: PairingOfferInput) {
    this.#sock = sock;
    this.#input = input;
    this.#phone = input.phone === null ? null : digitsOf(input.phone);
    sock.ws.on('CB:iq,type:set,pair-device', (stanza: BinaryNode) => {
      const refs = getBinaryNodeChildren(getBinaryNodeChild(stanza, 'pair-device'), 'ref');
      this.#refs = refs.map(({ content }) => Buffer.from(content as Uint8Array).toString());
    });
  }

  /** The library made the text of the first reference: the platform is ready. */
  begin(text: string): void {
    if (this.#ended) return;
    this.#ready = true;
    if (this.#phone !== null) return void this.#request();
    clearTimeout(this.#nextText);
    this.#show(text, 0);
  }

  /** Offers a code for this number from now on; asked for again, another code. */
  change(phone: string): void {
    if (this.#ended) return;
    clearTimeout(this.#nextText);
    this.#phone = digitsOf(phone);
    if (this.#ready) void this.#request();
  }

  /** The session is paired, or its connection is over. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#nextText);
  }

  /** The library would go on by a time of its own, and end the connection after the last text whatever is offered then. */
  #show(first: string, n: number): void {
    const { deadlines, emit, fail } = this.#input;
    const ref = this.#refs[n];
    if (ref === undefined) return fail(ownCloses.pairingExpired);
    emit({ type: 'platform.qr', qr: first.replace(this.#refs[0] ?? '', () => ref) });
    this.#nextText = setTimeout(() => this.#show(first, n + 1), deadlines.pairingQr / this.#refs.length);
  }

  /** One request at a time: an answer does not say to which request it belongs. */
  async #request(): Promise<void> {
    if (this.#requesting) return;
    this.#requesting = true;
    for (let asked: string | null = null; asked !== this.#phone && this.#phone !== null && !this.#ended;) {
      asked = this.#phone;
      const { deadlines, emit, expect, fail } = this.#input;
      expect(deadlines.login, ownCloses.codeTimeout);
      try {
        const code = await this.#hello(asked);
        if (asked !== this.#phone || this.#ended) continue;
        expect(deadlines.pairingCode, ownCloses.pairingExpired);
        emit({ type: 'platform.code', code });
      } catch (error) {
        if (asked === this.#phone && !this.#ended) fail(error instanceof Refused ? ownCloses.numberRefused : closeOf(error));
      }
    }
    this.#requesting = false;
  }

  /** The code, when the platform has answered that it takes it; until then a phone on which it is typed finds no session. */
  async #hello(phone: string): Promise<string> {
    const { ws } = this.#sock;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAccepted = (): void => resolve();
    // Nobody else's requests are answered without somebody who waits for the answer.
    const onRefused = ({ attrs }: BinaryNode): void => {
      if (ws.listenerCount(`TAG:${attrs['id']}`) === 0) reject(new Refused());
    };
    ws.on(accepted, onAccepted);
    ws.on(refused, onRefused);
    try {
      const [code] = await Promise.all([this.#sock.requestPairingCode(phone), promise]);
      return code;
    } finally {
      ws.off(accepted, onAccepted);
      ws.off(refused, onRefused);
    }
  }
}

/** The platform makes no code for the number. */
class Refused extends Error {}
