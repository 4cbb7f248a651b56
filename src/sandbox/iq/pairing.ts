/** The client's two requests of pairing by code. */
import { isMissingNumber, isNumber, parseUser } from '../address.ts';
import { isCompanion } from '../companion-names.ts';
import { SandboxError } from '../face.ts';
import { childBytes, node } from '../nodes.ts';
import type { OpenQueries } from './query.ts';

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
