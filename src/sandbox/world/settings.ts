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
    async change(number, ...settings) {
      for (const chat of settings.flatMap(chatsOf))
        if (!isGroupJid(chat) && !isNumber(chat)) throw new SandboxError(400, 'chat: a number or a group');
      const owner = people.ensure(number);
      const mutations = settings.flatMap((setting) => mutationsOf(setting, parts, owner));
      appState.change(owner, mutations);
      if (settings.some(({ kind }) => kind === 'pushName')) emitPerson(parts, number);
    },
    settings: (number) => viewSettings(number, appState.entries(number), appState.versions(number), parts),
  };
}
