/** Operations on pictures of people and groups. */
import type { Picture } from '#actors/model.ts';
import type { PictureOperations } from '#actors/ports.ts';
import { answered, outcomeOfError } from '../outcomes.ts';
import type { Handlers } from './handlers.ts';

/** By the platform's code. */
const states: Readonly<Record<number, Picture['state']>> = { 404: 'absent', 401: 'hidden', 403: 'hidden' };

export const pictureHandlers: Handlers<PictureOperations> = {
  'picture.look': async ({ sock }, { id, kind }) => {
    try {
      const url = (await sock.profilePictureUrl(id, kind)) ?? '';
      return answered({ state: url === '' ? 'absent' : 'there', url });
    } catch (error) {
      const state = states[outcomeOfError(error, sock.ws.isOpen)?.refusal.code ?? 0];
      if (state === undefined) throw error;
      return answered({ state, url: '' });
    }
  },
};
