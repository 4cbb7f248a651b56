/** Keeps an idle connection open by pings, and detects a dead connection. */
import { S_WHATSAPP_NET, type WASocket } from '@whiskeysockets/baileys';
import type { LastFrame } from '../wire/frames.ts';

/** The longest pause between two pings. The library has the same pause. In milliseconds. */
const longestPauseMs = 30_000;

/** The time that the platform has to answer a ping. The library allows the same time. In milliseconds. */
const answerMs = 5_000;

interface KeepAliveParts {
  readonly sock: Pick<WASocket, 'query' | 'generateMessageTag'> & { readonly ws: Pick<WASocket['ws'], 'isOpen'> };
  readonly lastFrame: Pick<LastFrame, 'isOlderThan'>;
  /** The time without a frame after which a connection counts as dead. In milliseconds. */
  readonly silenceMs: number;
  /** Reports that the connection is dead. */
  silent(): void;
}

/**
 * The pings and the watchdog of one connection. The library's own pings are off, because they compare times of the wall clock. A step of the clock would
 * end every idle connection at once.
 */
export class KeepAlive {
  readonly #parts: KeepAliveParts;
  readonly #watchdog: NodeJS.Timeout;
  #pings: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(parts: KeepAliveParts) {
    this.#parts = parts;
    this.#watchdog = setInterval(() => this.#watch(parts.silenceMs), Math.ceil(parts.silenceMs / 6));
  }

  /** Begins the pings. Call this after the handshake. Does nothing after the end, because a handshake may be reported late. */
  begin(): void {
    if (this.#ended) return;
    // At each ping, the connection counts as dead if no frame arrived in the last `pauseMs + answerMs`.
    const pauseMs = Math.min(longestPauseMs, this.#parts.silenceMs / 3);
    clearInterval(this.#pings);
    this.#pings = setInterval(() => {
      if (this.#watch(pauseMs + answerMs)) this.#ping();
    }, pauseMs);
  }

  end(): void {
    this.#ended = true;
    clearInterval(this.#watchdog);
    clearInterval(this.#pings);
  }

  /** Returns false, and reports a dead connection, if no frame arrived within this time. */
  #watch(ms: number): boolean {
    const { lastFrame, silent } = this.#parts;
    const isDead = lastFrame.isOlderThan(ms);
    if (isDead) silent();
    return !isDead;
  }

  #ping(): void {
    const { sock } = this.#parts;
    if (!sock.ws.isOpen) return;
    const attrs = { id: sock.generateMessageTag(), to: S_WHATSAPP_NET, type: 'get', xmlns: 'w:p' };
    // Only the arrival of frames counts, so an unanswered ping is no error of its own.
    sock.query({ tag: 'iq', attrs, content: [{ tag: 'ping', attrs: {} }] }).catch(() => undefined);
  }
}
