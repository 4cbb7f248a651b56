/** Dispatches requests of clients by `xmlns/type/child`. An unknown request is refused, logged and counted. */
import { SandboxError } from '../interface.ts';
import { allChildren, firstChild, node, type BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device } from '../people.ts';
import type { Connection } from '../wire/connection.ts';
import { accountQueries, keyQueries, pictureQueries } from './account.ts';
import { channelQueries } from './channels.ts';
import { businessQueries, catalogQueries } from './business.ts';
import { communityQueries } from './communities.ts';
import { groupQueries } from './groups.ts';
import { mexQueries } from './mex.ts';
import { pairingQueries, passkeyQueries } from './pairing.ts';
import { postQueries } from './posts.ts';
import { Silence, type Answer, type DeviceQueries, type OpenQueries, type Query } from './query.ts';
import { usyncQueries } from './usync.ts';

/** Requests that need a login. */
const deviceQueries: DeviceQueries = {
  ...keyQueries,
  ...usyncQueries,
  ...accountQueries,
  ...mexQueries,
  ...pictureQueries,
  ...groupQueries,
  ...channelQueries,
  ...communityQueries,
  ...businessQueries,
  ...catalogQueries,
  ...postQueries,
};

/** Requests that are also answered before the login. */
const openQueries: OpenQueries = { ...pairingQueries, ...passkeyQueries, 'w:p/get/ping': () => undefined, 'w:p/get/': () => undefined };

export function answerQuery(parts: Parts, connection: Connection, device: Device | undefined, stanza: BinaryNode): void {
  const { id } = stanza.attrs;
  const request = requestOf(stanza);
  const name = nameOf(stanza, request);
  const reply = (kind: 'result' | 'error', content?: BinaryNode[]): void => {
    const from = (stanza.attrs['to'] ?? 's.whatsapp.net').replace(/^@/, '');
    connection.send(node('iq', { from, type: kind, id }, content));
  };
  const answered = (answer: Answer): void => reply('result', answer ? [...answer] : undefined);
  const failed = (error: unknown): void => {
    if (error instanceof Silence) return;
    const known = error instanceof SandboxError;
    if (!known) parts.log.error({ name, error: String(error) }, 'query.failed');
    const code = String(known ? error.status : 500);
    reply('error', [node('error', { code, text: known ? error.message : 'internal-server-error' })]);
  };
  try {
    const answer = ask({ parts, connection, stanza, request }, device, name);
    if (answer instanceof Promise) answer.then(answered, failed);
    else answered(answer);
  } catch (error) {
    failed(error);
  }
}

const nameOf = ({ attrs: { type = 'get', xmlns = '' } }: BinaryNode, request: BinaryNode | undefined): string =>
  `${xmlns}/${type}/${request?.tag ?? ''}`;

/**
 * Returns the first child that names a known request, else the first child. Children may be in any order. The library and tulir/whatsmeow (`prekeys.go`) begin
 * an upload of keys with `<registration>`. vinikjkkj/zapo begins the upload with `<identity>` (`src/transport/node/builders/prekeys.ts`).
 */
const requestOf = (stanza: BinaryNode): BinaryNode | undefined =>
  allChildren(stanza).find((one) => [openQueries, deviceQueries].some((queries) => Object.hasOwn(queries, nameOf(stanza, one)))) ??
  firstChild(stanza);

function ask(query: Query, device: Device | undefined, name: string): Answer | Promise<Answer> {
  const { parts } = query;
  const refused = parts.faults.take('refuseQuery', device?.number, name);
  if (refused) throw new SandboxError(refused.code ?? 403, 'refused');
  const open = Object.hasOwn(openQueries, name) ? openQueries[name] : undefined;
  if (open) return open(query);
  const known = Object.hasOwn(deviceQueries, name) ? deviceQueries[name] : undefined;
  if (known && device) return known({ ...query, device });
  parts.counters.unknown(name);
  parts.log.info({ name: name.slice(0, 120) }, 'query.unknown');
  throw known ? new SandboxError(401, 'not-authorized') : new SandboxError(501, 'feature-not-implemented');
}
