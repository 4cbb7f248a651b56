/** Settings that the owner of a phone changes on it. */
import { isGroupJid, isNumber } from '../address.ts';
import { SandboxError, type SettingsFace } from '../face.ts';
import type { Parts } from '../parts.ts';

export function settingsRoom({ appState, people }: Parts): SettingsFace {
  return {
    async change(number, setting) {
      if ('chat' in setting && !isGroupJid(setting.chat) && !isNumber(setting.chat))
        throw new SandboxError(400, 'chat: a number or a group');
      await appState.change(people.ensure(number), setting);
    },
  };
}
