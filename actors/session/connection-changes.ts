/** The name in the log of each change of the connection that makes an event. */
import type { Status } from '../model.ts';

export const changeNames: Readonly<Record<Status, string>> = {
  connecting: 'session.pairing',
  connected: 'session.connected',
  disconnected: 'session.disconnected',
  hibernated: 'session.hibernated',
};
