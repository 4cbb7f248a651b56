/** A pairing offer on a socket, with the test in the role of the platform. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { initAuthCreds, type BinaryNode } from '@whiskeysockets/baileys';
import type { Close, PlatformFact } from '#actors/ports.ts';
import { PairingOffer, type PairingSocket } from '#src/platform/link/pairing-offer.ts';
import { rejectUnanswered } from '#src/platform/link/socket-guards.ts';

export const deadlines = { login: 5_000, pairingQr: 60, pairingCode: 600_000 };
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Waits for the key that is derived from a code, on another thread. Timers are in the hand of some tests. */
export const worked = async (isDone: () => boolean): Promise<void> => {
  for (const end = performance.now() + 60_000; performance.now() < end && !isDone();) await turn();
  assert.ok(isDone());
};
export const node = (tag: string, attrs: Record<string, string>, content?: BinaryNode['content']): BinaryNode =>
  content === undefined ? { tag, attrs } : { tag, attrs, content };
export const childOf = ({ content }: BinaryNode, n = 0): BinaryNode => (content as BinaryNode[])[n] as BinaryNode;

export class Stage {
  readonly ws = new EventEmitter();
  readonly creds = initAuthCreds();
  /** Requests for codes and last steps of pairings, in order. */
  readonly queries: BinaryNode[] = [];
  readonly facts: PlatformFact[] = [];
  readonly failures: Close[] = [];
  readonly expected: string[] = [];
  /** Stored secrets, acknowledgements and facts, in order. */
  readonly log: string[] = [];
  readonly offer: PairingOffer;
  readonly #answers: PromiseWithResolvers<BinaryNode>[] = [];

  constructor(phone: string | null) {
    const sock: PairingSocket = {
      ws: this.ws as unknown as PairingSocket['ws'],
      query: (query) => {
        this.queries.push(query);
        const answer = Promise.withResolvers<BinaryNode>();
        this.#answers.push(answer);
        return answer.promise;
      },
      sendNode: async ({ tag, attrs }) => void this.log.push(`${tag} ${attrs['class']} ${attrs['type']} ${attrs['id']}`),
    };
    rejectUnanswered(sock);
    this.offer = new PairingOffer(sock, {
      open: phone === null ? {} : { phone },
      deadlines,
      auth: {
        state: { creds: this.creds },
        storeCredentials: async () => {
          const secret = this.creds.advSecretKey;
          await turn();
          this.log.push(`stored ${secret}`);
        },
      },
      emit: (fact) => {
        this.facts.push(fact);
        this.log.push(fact.type);
      },
      expect: (ms, close) => void this.expected.push(`${ms} ${close().message}`),
      fail: (close) => void this.failures.push(close),
      stumbled: (error) => assert.fail(String(error)),
    });
  }

  /** Returns the numbers for which a code was requested, in order. */
  get requests(): readonly string[] {
    return this.queries
      .map((query) => childOf(query))
      .flatMap(({ attrs: { stage, jid = '' } }) => (stage === 'companion_hello' ? [jid.split('@')[0] ?? ''] : []));
  }

  /** Offers references as the platform. */
  begin(refs: readonly string[] = ['2@one', '2@two']): void {
    const content = refs.map((ref) => node('ref', {}, Buffer.from(ref)));
    this.ws.emit('CB:iq,type:set,pair-device', node('iq', {}, [node('pair-device', {}, content)]));
    this.offer.begin();
  }

  /** Accepts request `n` as the platform. */
  async accept(n = 1): Promise<void> {
    await worked(() => this.queries.length >= n);
    const ref = node('link_code_pairing_ref', {}, Buffer.from(`3@${n}`));
    this.#answers[n - 1]?.resolve(node('iq', {}, [node('link_code_companion_reg', {}, [ref])]));
    await turn();
  }

  async refuse(code: number, n = 1): Promise<void> {
    await worked(() => this.queries.length >= n);
    this.#answers[n - 1]?.reject(Object.assign(new Error('bad-request'), { data: code }));
    await turn();
  }

  /** Leaves request `n` without an answer until the time-out. The library then resolves without an answer. */
  async ignore(n = 1): Promise<void> {
    await worked(() => this.queries.length >= n);
    this.#answers[n - 1]?.resolve(undefined as unknown as BinaryNode);
    await turn();
  }

  notify(type: string, content: BinaryNode, from = 's.whatsapp.net'): void {
    const taken = this.offer.takes(node('notification', { from, type, id: 'n1' }, [content]));
    assert.equal(taken, true);
  }

  /** Reports that code `n` was typed on a phone, or a step of its pairing. */
  step(n: number, stage: string, keys: readonly BinaryNode[] = [], attrs: Record<string, string> = {}): void {
    const ref = node('link_code_pairing_ref', {}, Buffer.from(`3@${n}`));
    this.notify('link_code_companion_reg', node('link_code_companion_reg', { stage, ...attrs }, [ref, ...keys]));
  }

  /** Returns the secrets in the shown QR texts, with their references. */
  get texts(): readonly string[] {
    return this.facts.flatMap((fact) => {
      if (fact.type !== 'platform.qr') return [];
      const [ref = '', , , secret] = fact.qr.slice(fact.qr.indexOf('#') + 1).split(',');
      return [`${ref} ${secret === this.creds.advSecretKey ? 'now' : 'before'}`];
    });
  }

  get codes(): readonly string[] {
    return this.facts.flatMap((fact) => (fact.type === 'platform.code' ? [fact.code] : []));
  }
}
