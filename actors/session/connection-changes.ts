/** What the log calls each change of the connection that integrators hear of. */
import type { Status } from '../model.ts';

export const changeNames: Readonly<Record<Status, string>> = {
  connecting: 'session.pairing',
  connected: 'session.connected',
  disconnected: 'session.disconnected',
  hibernated: 'session.hibernated',
};
