/**
 * The offer of one connection to a phone that may link the session. It shows QR texts one after the other, or a pairing code for the last requested number.
 * A pairing code replaces the QR texts, or the code of another number, on the same connection.
 */
import { randomBytes } from 'node:crypto';
import {
  buildPairingQRData,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  type AuthenticationCreds,
  type BinaryNode,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { Close, OpenOptions, PasskeyStep, PlatformFact } from '#actors/ports.ts';
import { ownCloses } from '../wire/outcomes.ts';
import { browserOf, codeRefusal, companionOf, deviceTypeOf, LinkCode, platform, type QuerySocket } from './link-code.ts';
import { PasskeyPairing } from './passkey.ts';

interface PairingOfferInput {
  /** With a number, a pairing code is requested. Without a number, QR texts are shown. */
  readonly open: OpenOptions;
  /**
   * Time limits. `login`: for the answer to the first request of a code for a number. `pairingQr`: for all QR texts together. `pairingCode`: for all codes of a
   * number together. In milliseconds.
   */
  readonly deadlines: { readonly login: number; readonly pairingQr: number; readonly pairingCode: number };
  readonly auth: { readonly state: { readonly creds: AuthenticationCreds }; storeCredentials(): Promise<void> };
  emit(fact: PlatformFact): void;
  /** Replaces the deadline of the connection. */
  expect(ms: number, close: () => Close): void;
  fail(close: Close): void;
  /** Reports an error after which the connection continues. */
  stumbled(error: unknown): void;
}

/** The used part of the library's socket. */
export interface PairingSocket extends QuerySocket, Pick<WASocket, 'sendNode'> {
  readonly ws: Pick<WASocket['ws'], 'on'>;
}

/** Types of notifications that belong to a pairing. */
const pairingNotices = ['companion_reg_refresh', 'link_code_companion_reg', 'passkey_prologue_request', 'crsc_continuation'];
/** Notifications about a passkey. They are accepted only from the address of the platform itself (tulir/whatsmeow `pair-passkey.go`). */
const passkeyNotices = ['passkey_prologue_request', 'crsc_continuation'];
const servers: readonly string[] = [platform, platform.replace('@', '')];
/** Lifetime of a code in milliseconds, and the limit of attempts by phones (vinikjkkj/zapo `src/protocol/defaults.ts`). */
const codeLives = 180_000;
const mostHellos = 3;
/** The largest number of codes that become void and are replaced in one offer. */
const mostVoided = 3;
/** The time limit of a whole passkey pairing, which exceeds the sum of the chart's limits for the stages. In milliseconds. */
const longestPasskey = 20 * 60_000;
/** The time for the last step of the phone. Afterwards a new code replaces the typed code. In milliseconds. */
const lastStep = 60_000;

const digitsOf = (phone: string): string => phone.replaceAll(/\D/g, '');

/** Returns true for a notification that the library cannot acknowledge before the session is paired. */
const isPairingNotice = ({ tag, attrs }: BinaryNode): boolean => tag === 'notification' && pairingNotices.includes(attrs['type'] ?? '');

export class PairingOffer {
  readonly #input: PairingOfferInput;
  readonly #sock: PairingSocket;
  readonly #passkey: PasskeyPairing;
  #phone: string | null;
  /** The platform's references for QR texts, and the index of the reference in the shown text. */
  #refs: readonly string[] = [];
  #shown = 0;
  #next: NodeJS.Timeout | undefined;
  #code: LinkCode | null = null;
  #voided = 0;
  /** True if the platform is ready to link a device. */
  #ready = false;
  #requesting = false;
  /** True if the deadline for the codes of the present number runs. A renewed code does not extend it, as the chart's limit counts from the first code. */
  #isLimited = false;
  /** True after a phone has used the offer. */
  #used = false;
  /** True if a phone has the secret. The secret must not change any more. */
  #finished = false;
  /** Resolves when all earlier notifications of the pairing are handled. They are handled in the order of their arrival. */
  #notices: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(sock: PairingSocket, input: PairingOfferInput) {
    this.#sock = sock;
    this.#input = input;
    this.#phone = input.open.phone === undefined ? null : digitsOf(input.open.phone);
    this.#passkey = this.#makePasskey();
    sock.ws.on('CB:iq,type:set,pair-device', (stanza: BinaryNode) => {
      const refs = getBinaryNodeChildren(getBinaryNodeChild(stanza, 'pair-device'), 'ref');
      this.#refs = refs.map(({ content }) => Buffer.from(content as Uint8Array).toString());
    });
  }

  /** Starts the offer when the platform is ready. */
  begin(): void {
    if (this.#ended) return;
    this.#ready = true;
    if (this.#phone !== null) return void this.#request();
    this.#show(0);
  }

  /** Offers a pairing code for this number from now on. A second call with the same number offers another code. */
  change(phone: string): void {
    if (this.#ended) return;
    clearTimeout(this.#next);
    this.#phone = digitsOf(phone);
    this.#isLimited = false;
    if (this.#ready) void this.#request();
  }

  /** Returns true for a notification of a pairing, and handles it in order. The library could not acknowledge it without an account. */
  takes(stanza: BinaryNode): boolean {
    const isPaired = this.#creds.account !== undefined;
    if (isPaired || !isPairingNotice(stanza)) return false;
    const failed = (error: unknown): void => {
      if (!this.#ended) this.#input.stumbled(error);
    };
    this.#notices = this.#notices.then(() => this.#take(stanza)).catch(failed);
    return true;
  }

  /** Handles a step of the owner with a passkey. */
  passkey(step: PasskeyStep): void {
    if (step.type === 'assert') this.#passkey.assert(step.assertion);
    else this.#passkey.confirm();
  }

  /** Ends the offer, because the session is paired or its connection has ended. */
  end(): void {
    this.#ended = true;
    this.#passkey.end();
    clearTimeout(this.#next);
  }

  get #creds(): AuthenticationCreds {
    return this.#input.auth.state.creds;
  }

  /** Shows a QR text, and the next text after an interval. Replaces the library's own sequence, which always ends the connection after the last text. */
  #show(n: number): void {
    clearTimeout(this.#next);
    if (n >= this.#refs.length) return this.#input.fail(this.#ranOut());
    this.#shown = n;
    this.#tellText();
    this.#next = setTimeout(() => this.#show(n + 1), this.#input.deadlines.pairingQr / this.#refs.length);
  }

  #tellText(): void {
    const { emit, open } = this.#input;
    const creds = this.#creds;
    const [noise, identity] = [creds.noiseKey, creds.signedIdentityKey].map((key) => Buffer.from(key.public).toString('base64'));
    const ref = this.#refs[this.#shown] ?? '';
    emit({ type: 'platform.qr', qr: buildPairingQRData(ref, noise ?? '', identity ?? '', creds.advSecretKey, browserOf(open)) });
  }

  #ranOut(): Close {
    return this.#used ? ownCloses.linkingStalled : ownCloses.pairingExpired;
  }

  /** Requests a code. Only one request runs at a time, so the reported code is the last requested one. */
  async #request(): Promise<void> {
    if (this.#requesting) return;
    this.#requesting = true;
    const { deadlines, open } = this.#input;
    const device = companionOf(open);
    for (let asked: string | null = null; asked !== this.#phone && this.#phone !== null && !this.#ended;) {
      asked = this.#phone;
      this.#code = null;
      if (!this.#isLimited) this.#input.expect(deadlines.login, () => ownCloses.codeTimeout);
      try {
        const code = await LinkCode.request(this.#sock, asked, device, this.#creds);
        if (asked !== this.#phone || this.#ended) continue;
        this.#code = code;
        if (!this.#isLimited) this.#input.expect(deadlines.pairingCode, () => this.#ranOut());
        this.#isLimited = true;
        this.#renewAfter(codeLives);
        this.#input.emit({ type: 'platform.code', code: code.code });
      } catch (error) {
        if (asked === this.#phone && !this.#ended) this.#input.fail(codeRefusal(error, device));
      }
    }
    this.#requesting = false;
  }

  #renewAfter(ms: number): void {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => void this.#request(), ms);
  }

  async #take(notice: BinaryNode): Promise<void> {
    if (this.#ended) return;
    if (notice.attrs['type'] === 'companion_reg_refresh') return this.#refresh(notice);
    await this.#acknowledge(notice);
    const { type = '', from = '' } = notice.attrs;
    if (passkeyNotices.includes(type) && !servers.includes(from)) return;
    if (type === 'passkey_prologue_request') return this.#askForPasskey(notice);
    if (type === 'crsc_continuation') return this.#passkey.continued(notice);
    const step = getBinaryNodeChild(notice, 'link_code_companion_reg');
    const code = this.#code;
    if (step === undefined || code === null || !code.isNamedBy(step)) return;
    if (step.attrs['stage'] === 'refresh_code') return this.#replaceVoided();
    if (step.attrs['stage'] === 'primary_hello') return this.#finish(code, step);
  }

  /**
   * Replaces the secret after a phone has scanned the QR code, because the platform requires a new secret. The secret is stored before the
   * acknowledgement. Then the QR text of the same reference is shown with the new secret.
   */
  async #refresh(notice: BinaryNode): Promise<void> {
    const asked = ['companion_reg_refresh', 'pair-device-rotate-qr'].some((tag) => getBinaryNodeChild(notice, tag) !== undefined);
    if (asked && !this.#finished) {
      this.#used = true;
      this.#creds.advSecretKey = randomBytes(32).toString('base64');
      await this.#input.auth.storeCredentials();
    }
    await this.#acknowledge(notice);
    if (asked && !this.#ended && this.#ready && this.#phone === null) this.#tellText();
  }

  /** Replaces the offer by a passkey pairing. From now on the chart limits the stages of the pairing. The deadline of this connection is only a safeguard. */
  #askForPasskey(notice: BinaryNode): void {
    this.#used = true;
    this.#finished = true;
    clearTimeout(this.#next);
    this.#input.expect(longestPasskey, () => ownCloses.linkingStalled);
    this.#passkey.requested(notice);
  }

  #makePasskey(): PasskeyPairing {
    const { auth, emit, fail, open } = this.#input;
    const { creds } = auth.state;
    return new PasskeyPairing({
      ask: (type, request) => this.#ask(type, request),
      advSecret: () => Buffer.from(creds.advSecretKey, 'base64'),
      replaceAdvSecret: (secret) => {
        creds.advSecretKey = Buffer.from(secret).toString('base64');
        return auth.storeCredentials();
      },
      noiseKey: creds.noiseKey.public,
      identityKey: creds.signedIdentityKey.public,
      deviceType: deviceTypeOf(open),
      now: () => performance.now(),
      emit,
      fail: (message) => fail({ code: null, message, data: { reason: 'passkeyFailed' } }),
    });
  }

  #ask(type: 'get' | 'set', request: BinaryNode): Promise<BinaryNode> {
    return this.#sock.query({ tag: 'iq', attrs: { to: platform, type, xmlns: 'md' }, content: [request] });
  }

  #replaceVoided(): void {
    this.#voided += 1;
    if (this.#voided > mostVoided) return this.#input.fail(ownCloses.codeVoided);
    void this.#request();
  }

  /** Handles a `primary_hello`, which means that the code was typed on a phone. A phone may begin several times, for example after a typing mistake. */
  async #finish(code: LinkCode, hello: BinaryNode): Promise<void> {
    const last = await code.finish(hello, this.#creds);
    if (last === null || this.#ended || code !== this.#code) return;
    code.hellos += 1;
    if (code.hellos > mostHellos) return this.#replaceVoided();
    this.#used = true;
    this.#finished = true;
    this.#creds.advSecretKey = last.advSecret;
    await this.#input.auth.storeCredentials();
    if (this.#ended || code !== this.#code) return;
    this.#renewAfter(lastStep);
    try {
      await this.#sock.query(last.request);
    } catch (error) {
      if (!this.#ended) this.#input.fail(codeRefusal(error));
    }
  }

  /** Acknowledges a notification. The library's own acknowledgement needs the account, which is not known yet. */
  async #acknowledge({ tag, attrs: { id = '', from = '', type = '' } }: BinaryNode): Promise<void> {
    if (!this.#ended) await this.#sock.sendNode({ tag: 'ack', attrs: { id, to: from, class: tag, type } });
  }
}
