/** The time-outs of a connection. */

/** Milliseconds. */
export interface Deadlines {
  /** From the first byte to the end of the handshake. */
  readonly open: number;
  /** From the handshake to the login, or to the first QR text. */
  readonly login: number;
  /** For the farewell and for what has to be stored, together. */
  readonly close: number;
  /** Without any frame from the platform. */
  readonly silence: number;
  /** From the hand-over of a message to its acknowledgement. */
  readonly send: number;
  readonly pairingQr: number;
  readonly pairingCode: number;
}
