/** Changes of the privacy settings on the phone or by another device: the library, which keeps the settings for read receipts, does not notice them. */
import type { WASocket } from '@whiskeysockets/baileys';

export const followPrivacy = (sock: WASocket, failed: (error: unknown) => void): void => {
  sock.ws.on('CB:notification,type:account_sync,privacy', () => void sock.fetchPrivacySettings(true).catch(failed));
};
