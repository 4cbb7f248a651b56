/** Log names of the changes of the connection that make an event. */
import type { Status } from '../model.ts';

export const changeNames: Readonly<Record<Status, string>> = {
  connecting: 'session.pairing',
  connected: 'session.connected',
  disconnected: 'session.disconnected',
  hibernated: 'session.hibernated',
};
