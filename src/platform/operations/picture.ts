/** Operations on pictures of people and groups. */
import type { Picture } from '#actors/model.ts';
import type { PictureOperations } from '#actors/ports.ts';
import { answered, answerOf } from '../wire/outcomes.ts';
import type { Handlers } from './handlers.ts';

/** Meanings by the platform's code. */
const states: Readonly<Record<number, Picture['state']>> = { 404: 'absent', 401: 'hidden', 403: 'hidden' };

export const pictureHandlers: Handlers<PictureOperations> = {
  'picture.look': async ({ sock, groups }, { id, kind }) => {
    const asked = await answerOf(sock.profilePictureUrl(id, kind), () => sock.ws.isOpen);
    const found = (state: Picture['state'], url: string) => answered({ state, url }, groups.pictured(id, kind, url));
    if (asked.ok) return found(asked.value ? 'there' : 'absent', asked.value ?? '');
    const state = states[asked.refusal.code ?? 0];
    return state === undefined ? asked : found(state, '');
  },
};
