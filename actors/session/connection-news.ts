/** The payload of a `connection` event (contract/events.md). */
import type { InstanceRecord, Status } from '../model.ts';
import type { ConnectionNews } from './host.ts';

/** What the log calls each change. */
export const newsNames: Readonly<Record<Status, string>> = {
  connecting: 'session.pairing',
  connected: 'session.connected',
  disconnected: 'session.disconnected',
  hibernated: 'session.hibernated',
};

/** `2026-02-02 17:46:57.567Z`: with a space, no `T`. */
export const spacedDate = (ms: number): string => new Date(ms).toISOString().replace('T', ' ');

export function connectionPayload(record: InstanceRecord, news: ConnectionNews): Readonly<Record<string, unknown>> {
  const { status, qrcode, lastDisconnect, reason, loggedOut } = news;
  return {
    ...(loggedOut === true ? { type: 'LoggedOut' } : {}),
    instance: {
      name: record.name,
      status,
      ...(qrcode === undefined ? {} : { qrcode }),
      ...(lastDisconnect === undefined ? {} : { lastDisconnect: spacedDate(lastDisconnect) }),
      ...(reason === undefined ? {} : { lastDisconnectReason: reason }),
    },
  };
}
