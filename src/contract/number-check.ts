/** The answer of `/chat/check` for a number or group. */
import type { CheckedNumber } from '#actors/views.ts';

/** `isInWhatsapp` is left out when the platform did not say: `error` tells so. */
export const checkedNumberView = ({ query, chatId, lid, exists, businessName, groupName, error }: CheckedNumber) => ({
  query,
  jid: chatId,
  lid,
  ...(exists === null ? {} : { isInWhatsapp: exists }),
  verifiedName: businessName,
  groupName,
  error,
});
