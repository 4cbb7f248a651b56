/** Settings that the owner of a phone changes on it, and what the phone shows of all that its devices changed. */
import { mutationsOf } from '../app-state/changes.ts';
import { viewSettings } from '../app-state/view.ts';
import { isGroupJid, isNumber } from '../address.ts';
import { emitPerson } from '../device-life.ts';
import { SandboxError, type Setting, type SettingsFace } from '../face.ts';
import type { Parts } from '../parts.ts';

const chatsOf = (setting: Setting): readonly string[] => {
  if (setting.kind === 'favorites') return setting.chats;
  return 'chat' in setting ? [setting.chat] : [];
};

export function settingsRoom(parts: Parts): SettingsFace {
  const { appState, people } = parts;
  return {
    async change(number, setting) {
      for (const chat of chatsOf(setting))
        if (!isGroupJid(chat) && !isNumber(chat)) throw new SandboxError(400, 'chat: a number or a group');
      const owner = people.ensure(number);
      appState.change(owner, mutationsOf(setting, parts, owner));
      if (setting.kind === 'pushName') emitPerson(parts, number);
    },
    settings: (number) => viewSettings(number, appState.entries(number), appState.versions(number), parts),
  };
}
