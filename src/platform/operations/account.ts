/** Operations on the account itself. */
import type { AccountOperations } from '#actors/ports.ts';
import { answered } from '../outcomes.ts';
import type { Handlers } from './handlers.ts';

export const accountHandlers: Handlers<AccountOperations> = {
  'account.presence': async ({ sock }, { presence }) => {
    await sock.sendPresenceUpdate(presence);
    return answered(null);
  },

  'account.limits': async ({ standing }) => {
    const [timeLock, cap] = await Promise.all([standing.timeLock(), standing.cap()]);
    return answered({ timeLock, cap });
  },
};
