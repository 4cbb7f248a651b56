/** Faults that apply to open connections. */
import type { Fault } from './interface.ts';
import { deviceRemoved, replaced, streamError, type Connection } from './wire/connection.ts';
import { node } from './nodes.ts';

/** Kinds of faults that apply to open connections. Faults of all other kinds wait for the step that they break (`faults.ts`). */
export const liveKinds = [
  'close',
  'reset',
  'silence',
  'streamError',
  'streamEnd',
  'conflict',
  'deviceRemoved',
  'corruptFrame',
  'delay',
] as const;

export const isLive = (kind: Fault['kind']): boolean => (liveKinds as readonly string[]).includes(kind);

export function applyFault(connection: Connection, { kind, code, ms }: Fault): void {
  switch (kind) {
    case 'close':
      connection.close(code ?? 1000);
      break;
    case 'reset':
      connection.reset();
      break;
    case 'silence':
      connection.silence();
      break;
    case 'streamError':
      connection.finish(streamError(code));
      break;
    case 'streamEnd':
      connection.finish(node('xmlstreamend'));
      break;
    case 'conflict':
      connection.finish(replaced());
      break;
    case 'deviceRemoved':
      connection.finish(deviceRemoved());
      break;
    case 'corruptFrame':
      connection.corrupt();
      break;
    case 'delay':
      connection.delayMs = ms ?? 1000;
      break;
    default:
      break;
  }
}
