/** The course of a connection after its handshake: registration or login, then the dispatch of every stanza. */
import { proto } from '@whiskeysockets/baileys';
import { isGroupJid } from './address.ts';
import { acceptCall } from './calls.ts';
import { versionOf } from './client-versions.ts';
import { answerQuery } from './iq/table.ts';
import { confirmationKey } from './connections.ts';
import { acceptReceipt } from './messages/client-receipts.ts';
import { routeMessage } from './messages/router.ts';
import { emitPerson, goLive } from './device-life.ts';
import { node, unixSeconds, type BinaryNode } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Connection, ConnectionHandler } from './wire/connection.ts';

export function createHandler(parts: Parts): ConnectionHandler {
  const { counters, faults, connections, pairing, versions } = parts;
  return {
    onHandshake() {
      counters.handshakes += 1;
    },
    onPayload(connection, payload) {
      if (!versions.mayConnect(versionOf(payload))) {
        counters.failedLogin();
        return connection.finish(failure(405));
      }
      if (payload.devicePairingData) {
        // Since 2026-06-30 the platform closes the connection of a retired program without an error code, before any QR code (WhiskeySockets/Baileys
        // 2677).
        if (isRetired(payload)) connection.close(1000);
        else if (!pairing.begin(connection, payload)) connection.finish(failure(400));
        else if (faults.take('earlySuccess')) connection.send(node('success', { t: unixSeconds(Date.now()) }));
        return;
      }
      login(parts, connection, payload);
    },
    onNode(connection, stanza) {
      accept(parts, connection, stanza);
    },
    onBroken(connection, error) {
      parts.log.info({ device: connection.deviceKey, error: String(error) }, 'connection.broken');
    },
    onClosed(connection) {
      counters.connections.open -= 1;
      const device = parts.people.deviceByKey(connection.deviceKey);
      connections.detach(connection);
      pairing.end(connection);
      if (!device || connections.of(device)) return;
      counters.closed(device.number, Date.now());
      parts.presence.setOnline(parts.people.ensure(device.number), device.device, false);
      emitPerson(parts, device.number);
    },
  };
}

const { WIN32, DARWIN } = proto.ClientPayload.WebInfo.WebSubPlatform;

/** Returns true for desktop programs that the platform no longer supports. */
const isRetired = ({ webInfo }: proto.ClientPayload): boolean => webInfo?.webSubPlatform === WIN32 || webInfo?.webSubPlatform === DARWIN;

const failure = (reason: number, more: Record<string, string | undefined> = {}): BinaryNode =>
  node('failure', { reason: String(reason), location: 'lla', ...more });

function login(parts: Parts, connection: Connection, payload: proto.ClientPayload): void {
  const { counters, faults, connections, people } = parts;
  const number = String(payload.username ?? '');
  const device = people.device(number, payload.device ?? 0);
  const fault = faults.take('loginFailure', number);
  const known = device && connection.clientStatic.equals(Buffer.from(device.noiseKey));
  if (fault || !known) {
    counters.failedLogin();
    // The answer for a temporary ban contains its duration in seconds.
    const ban = fault?.ms === undefined ? {} : { code: '101', expire: String(Math.ceil(fault.ms / 1000)) };
    connection.finish(failure(fault?.code ?? 401, ban));
    return;
  }
  counters.login(number, connections.of(device) !== undefined, Date.now());
  connections.attach(connection, device);
  emitPerson(parts, number);
  if (faults.take('noLogin', number)) return;
  const person = people.ensure(number);
  const attrs = { t: unixSeconds(Date.now()), lid: `${person.lid}:${device.device}@lid`, props: '27', location: 'lla', abprops: '7' };
  connection.send(node('success', attrs));
  if (faults.take('closeAfterLogin', number)) connection.close(1000);
  // A passive client goes live only on its request `<active/>` (vinikjkkj/zapo `src/transport/noise/WaClientPayload.ts`).
  else if (!payload.passive) goLive(parts, connection, device);
}

function accept(parts: Parts, connection: Connection, stanza: BinaryNode): void {
  const device = parts.people.deviceByKey(connection.deviceKey);
  if (stanza.tag === 'iq') {
    if (stanza.attrs['type'] === 'result' || stanza.attrs['type'] === 'error') parts.pairing.answer(connection, stanza);
    else answerQuery(parts, connection, device, stanza);
    return;
  }
  if (!device || !connection.deviceKey) {
    if (stanza.tag === 'ack') parts.pairing.acknowledged(connection, stanza);
    return;
  }
  switch (stanza.tag) {
    case 'message':
      inOrder(parts, connection, () => routeMessage(parts, connection, device, stanza));
      break;
    case 'receipt':
      inOrder(parts, connection, () => acceptReceipt(parts, connection, device, stanza));
      break;
    case 'ack':
      acceptAck(parts, connection, connection.deviceKey, stanza);
      break;
    case 'presence':
      parts.presence.fromClient(connection, device, stanza);
      break;
    case 'chatstate':
      if (!parts.versions.newForms || isNewChatState(parts, stanza)) parts.presence.chatstateFromClient(device, stanza);
      break;
    case 'call':
      acceptCall(parts, connection, device, stanza);
      break;
    case 'ib':
      break;
    default:
      parts.counters.unknown(stanza.tag);
      parts.log.info({ tag: stanza.tag.slice(0, 40) }, 'stanza.unknown');
  }
}

/**
 * Returns true for a typing stanza in the form that clients use since 2026-08-04: sent to a LID or a group, without the attribute `from` (tulir/whatsmeow
 * 1494ba73). A person without a LID is still addressed by number.
 */
const isNewChatState = ({ people }: Parts, { attrs: { from, to = '' } }: BinaryNode): boolean =>
  from === undefined && (to.endsWith('@lid') || isGroupJid(to) || people.resolve(to)?.person.withoutLid === true);

/** Processes messages and receipts of one client in order. A failure affects only its own stanza. */
function inOrder(parts: Parts, connection: Connection, work: () => Promise<void>): void {
  connection.work = connection.work
    .then(work)
    .catch((error: unknown) => parts.log.error({ device: connection.deviceKey, error: String(error) }, 'stanza.failed'));
}

function acceptAck(parts: Parts, connection: Connection, key: string, stanza: BinaryNode): void {
  const { class: kind = '', id = '', to } = stanza.attrs;
  // After a retry receipt, the client also sends an ack for the first copy. This ack must not delete the second copy, which has the same id.
  if (kind === 'message' && connection.retried.delete(id)) return;
  parts.connections.settle(key, confirmationKey(kind, stanza.attrs, to));
}
