/** Credentials of a session whose source keeps only a part of what the client library expects. */
import { type AuthenticationCreds, initAuthCreds } from '@whiskeysockets/baileys';

/** The credentials that every source must have: identity, registration and the signature of the account. */
export type NeededCredentials = Pick<
  AuthenticationCreds,
  'noiseKey' | 'signedIdentityKey' | 'signedPreKey' | 'registrationId' | 'me' | 'account'
>;

/**
 * Fills in what only a pairing or a connection reads (`pairingEphemeralKeyPair`, account settings) as the library makes it. The counter of
 * synchronisations is 1: at 0 the library waits 20 s for the history, which the platform sends after a pairing alone.
 */
export const completeCredentials = (given: NeededCredentials & Partial<AuthenticationCreds>): AuthenticationCreds => ({
  ...initAuthCreds(),
  accountSyncCounter: 1,
  ...given,
});
