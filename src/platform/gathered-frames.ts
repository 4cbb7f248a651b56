/** Frames that are sent in one turn of the event loop leave together: a call to the system costs more than a frame. */
import type { Socket } from 'node:net';

/** What is needed of a socket of `ws`. */
export interface FrameSocket {
  readonly readyState: number;
  readonly OPEN: number;
  /** The TCP or TLS socket; null before the upgrade. */
  readonly _socket: Pick<Socket, 'cork' | 'uncork'> | null;
  send(frame: Uint8Array, done?: (error?: Error) => void): void;
}

/**
 * Whoever sends goes on at once, as if the frame had left: the library handles messages one by one and waits for each receipt. A frame that cannot
 * leave ends the connection, which is what everybody listens to.
 */
export const gatherFrames = (raw: FrameSocket): void => {
  const send = raw.send.bind(raw);
  let gathering = false;
  raw.send = (frame, done) => {
    const socket = raw._socket;
    if (socket === null || raw.readyState !== raw.OPEN) return send(frame, done);
    if (!gathering) {
      gathering = true;
      socket.cork();
      setImmediate(() => {
        gathering = false;
        socket.uncork();
      });
    }
    send(frame);
    done?.();
  };
};
