/** Activates a linked device after its login, and unlinks a device. */
import { announceDevice } from './device-lists.ts';
import { applyFault, liveKinds } from './live-faults.ts';
import { sendHistory } from './messages/peer.ts';
import { node, platformJid } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Digits } from './interface.ts';
import type { Device } from './people.ts';
import { deviceRemoved, type Connection } from './wire/connection.ts';

/**
 * Activates the connection of a device after its login, at most once. Sends the stored stanzas of the device, applies armed live faults, and at the first login
 * sends the history of the phone.
 */
export function goLive(parts: Parts, connection: Connection, device: Device): void {
  if (connection.active) return;
  parts.connections.activate(connection);
  const routing = node('routing_info', {}, parts.random.bytes(8));
  connection.send(node('ib', { from: platformJid }, [node('edge_routing', {}, [routing])]));
  for (const kind of liveKinds) {
    const fault = parts.faults.take(kind, device.number);
    if (fault) applyFault(connection, fault);
  }
  connection.work = connection.work
    .then(() => sendHistory(parts, device))
    .catch((error: unknown) => parts.log.warn({ device: connection.deviceKey, error: String(error) }, 'history.failed'));
}

/** Runs `work` after the answer to the current request was sent. */
export function afterAnswer(parts: Parts, work: () => void): void {
  queueMicrotask(() => {
    try {
      work();
    } catch (error) {
      parts.log.error({ error: String(error) }, 'query.failed');
    }
  });
}

/** Deletes a device, on behalf of its phone or of itself, and closes its connection with the reason "device removed". */
export function unlink(parts: Parts, device: Device): void {
  const connection = parts.connections.of(device);
  parts.db.atomically(() => {
    parts.people.dropDevice(device);
    parts.connections.forget(device);
  });
  announceDevice(parts, device, 'remove');
  if (connection) parts.presence.setOnline(parts.people.ensure(device.number), device.device, false);
  connection?.finish(deviceRemoved());
  emitPerson(parts, device.number);
}

/** Emits the event that a person or its devices changed. */
export function emitPerson({ people, connections }: Parts, number: Digits): void {
  const person = people.find(number);
  if (person) people.emit({ type: 'person', person: people.view(person, (key) => connections.state(key)) });
}
