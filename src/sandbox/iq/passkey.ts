/** The client's requests while an account with a passkey is linked. They come before the login. */
import { SandboxError } from '../face.ts';
import { node } from '../nodes.ts';
import type { PasskeyCeremony } from '../passkey/ceremony.ts';
import type { Answer, OpenQueries, Query } from './query.ts';

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
