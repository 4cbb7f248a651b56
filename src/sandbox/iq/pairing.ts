/** The requests of a client for pairing by code, and during the ceremony of a passkey. */
import { isMissingNumber, isNumber, parseUser } from '../address.ts';
import { SandboxError } from '../interface.ts';
import { type BinaryNode, child, childBytes, node, text } from '../nodes.ts';
import type { PasskeyCeremony } from '../passkey/ceremony.ts';
import type { Answer, OpenQueries, Query } from './query.ts';

// Names that a client may use in the request for a pairing code. The platform refuses every other `companion_platform_display` with 400. On
// 2026-08-12 it refused "Chrome (Acme)" and accepted "Chrome (Windows)" (WhiskeySockets/Baileys 2560 and PR 2769, oxidezap/whatsapp-rust PR
// 979).

/** The browser that belongs to each platform id. Id 7 (desktop programs) and above are refused (WhiskeySockets/Baileys PR 2409). */
const browsers: Readonly<Record<string, string>> = { 1: 'Chrome', 2: 'Edge', 3: 'Firefox', 4: 'IE', 5: 'Opera', 6: 'Safari' };
/** Systems that the platform is known to accept. The complete list is not public. */
const systems = ['Windows', 'Mac OS', 'Linux'];
const format = /^(?<browser>[^()]+) \((?<system>[^()]+)\)$/;

/** Returns true if the platform accepts the name, the platform id and the key of a `companion_hello`. */
function isCompanion(request: BinaryNode | undefined): boolean {
  const { browser = '', system = '' } = format.exec(text(child(request, 'companion_platform_display')) ?? '')?.groups ?? {};
  const id = text(child(request, 'companion_platform_id')) ?? '';
  const keyed = childBytes(request, 'companion_server_auth_key_pub', 32) !== undefined;
  return keyed && id in browsers && Object.values(browsers).includes(browser) && systems.includes(system);
}

export const pairingQueries: OpenQueries = {
  'md/set/link_code_companion_reg': ({ parts, connection, stanza, request }) => {
    const stage = request?.attrs['stage'];
    if (stage === 'companion_finish') {
      parts.pairing.answer(connection, stanza);
      return undefined;
    }
    const number = parseUser(request?.attrs['jid'])?.user;
    const wrapped = childBytes(request, 'link_code_pairing_wrapped_companion_ephemeral_pub', 80);
    if (stage !== 'companion_hello' || !wrapped) throw new SandboxError(400, 'bad-request');
    if (number === undefined || !isNumber(number) || isMissingNumber(number)) throw new SandboxError(404, 'item-not-found');
    if (!isCompanion(request)) throw new SandboxError(400, 'bad-request');
    const ref = parts.pairing.hello(connection, number, wrapped);
    if (ref === undefined) throw new SandboxError(403, 'forbidden');
    return [node('link_code_companion_reg', { stage }, [node('link_code_pairing_ref', {}, Buffer.from(ref))])];
  },
};

// The client's requests while it is being linked to an account with a passkey. The client has not logged in yet.

const during =
  (answer: (ceremony: PasskeyCeremony, query: Query) => Answer | Promise<Answer>) =>
  (query: Query): Answer | Promise<Answer> => {
    const ceremony = query.parts.pairing.ceremonyOn(query.connection);
    if (!ceremony) throw new SandboxError(403, 'forbidden');
    return answer(ceremony, query);
  };

const request = ({ request: found }: Query) => found ?? node('empty');

export const passkeyQueries: OpenQueries = {
  'md/get/passkey_request_options': during((ceremony) => [ceremony.options()]),
  'md/get/ref': during((ceremony) => [ceremony.ref()]),
  'md/set/passkey_prologue': during((ceremony, query) => ceremony.prologue(request(query)).then(() => undefined)),
  'md/set/companion_nonce': during((ceremony, query) => {
    ceremony.reveal(request(query));
    return undefined;
  }),
  'md/set/encrypted_pairing_request': during((ceremony, query) => {
    ceremony.pair(request(query));
    return undefined;
  }),
};
