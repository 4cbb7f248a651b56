/** Beginning and end of a linked device's service. */
import { hitLive, liveKinds } from './breakage.ts';
import { handOverPast } from './messages/peer.ts';
import { node, platformJid } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Digits } from './face.ts';
import type { Device } from './people.ts';
import { deviceRemoved, type Connection } from './wire/connection.ts';

/** The device asked to be served: what waited goes out, on the first time its phone hands over the past. */
export function goLive(parts: Parts, connection: Connection, device: Device): void {
  parts.links.activate(connection);
  const routing = node('routing_info', {}, parts.random.bytes(8));
  connection.send(node('ib', { from: platformJid }, [node('edge_routing', {}, [routing])]));
  for (const kind of liveKinds) {
    const fault = parts.faults.take(kind, device.number);
    if (fault) hitLive(connection, fault);
  }
  connection.work = connection.work
    .then(() => handOverPast(parts, device))
    .catch((error: unknown) => parts.log.warn({ device: connection.deviceKey, error: String(error) }, 'history.failed'));
}

/** Runs `work` once the answer to the request under way has gone out. */
export function afterAnswer(parts: Parts, work: () => void): void {
  queueMicrotask(() => {
    try {
      work();
    } catch (error) {
      parts.log.error({ error: String(error) }, 'query.failed');
    }
  });
}

/** The phone, or the device itself, ends the link: it is forgotten, and told so when it is there. */
export function unlink(parts: Parts, device: Device): void {
  const connection = parts.links.of(device);
  parts.db.atomically(() => {
    parts.people.dropDevice(device);
    parts.links.forget(device);
  });
  parts.pairing.announceDevice(device, 'remove');
  connection?.finish(deviceRemoved());
  announce(parts, device.number);
}

/** Tells the page that something about a person or its devices is different now. */
export function announce({ people, links }: Parts, number: Digits): void {
  const person = people.find(number);
  if (person) people.emit({ type: 'person', person: people.view(person, (key) => links.state(key)) });
}
