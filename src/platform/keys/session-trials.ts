/**
 * libsignal tries a message on one session of a contact after the other. A try on the wrong one turns its ratchet before the message proves
 * not to be its own, and that is stored together with the session which fitted: the next message of the wrong one is then lost. Every new
 * connection begins new sessions with its contacts, so that a contact's last words in the old one come often. Here a try is on a copy.
 */
import { createRequire } from 'node:module';

interface Session {
  readonly indexInfo: { used: number };
  pendingPreKey?: unknown;
  serialize(): unknown;
}

interface Cipher {
  doDecryptWhisperMessage(message: Uint8Array, session: Session): Promise<Uint8Array>;
  decryptWithSessions(message: Uint8Array, sessions: readonly Session[]): Promise<{ session: Session; plaintext: Uint8Array }>;
}

interface Library {
  readonly SessionCipher: { readonly prototype: Cipher };
  readonly SessionRecord: { createEntry(): Session & { readonly constructor: { deserialize(data: unknown): Session } } };
}

let repaired = false;

/** Once per process; later calls do nothing. */
export const repairSessionTrials = (): void => {
  if (repaired) return;
  repaired = true;
  // The very copy that the client library uses.
  const { SessionCipher, SessionRecord } = createRequire(import.meta.resolve('@whiskeysockets/baileys'))('libsignal') as Library;
  const { prototype } = SessionCipher;
  const decrypt = prototype.decryptWithSessions;
  const copyOf = (session: Session): Session => SessionRecord.createEntry().constructor.deserialize(session.serialize());
  prototype.decryptWithSessions = async function (message, sessions) {
    if (sessions.length > 1) {
      for (const session of sessions) {
        const copy = copyOf(session);
        const plaintext = await this.doDecryptWhisperMessage(message, copy).catch(() => null);
        if (plaintext === null) continue;
        copy.indexInfo.used = Date.now();
        Object.assign(session, copy);
        if (copy.pendingPreKey === undefined) delete session.pendingPreKey;
        return { session, plaintext };
      }
    }
    // Fails as it always does, or the only session has to fit.
    return decrypt.call(this, message, sessions);
  };
};
