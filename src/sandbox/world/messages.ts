/** Messages of simulated people, their receipts, presence and calls, and settings that they change on their phones. */
import { type Addressing, isGroupJid, isNumber, pnJid } from '../address.ts';
import { mutationsOf } from '../app-state/changes.ts';
import { erasedOf, shownIn } from '../messages/shown.ts';
import { viewSettings } from '../app-state/view.ts';
import { stepCall } from '../calls.ts';
import { emitPerson } from '../device-life.ts';
import { type CallsMethods, type Digits, type MessagesMethods, SandboxError, type Setting, type SettingsMethods } from '../interface.ts';
import { chatOf, compose } from '../messages/compose.ts';
import type { Parts } from '../parts.ts';
import { knownPerson, placeOf, targetOf } from './people.ts';

// Messages of simulated people, their receipts and presence.

const maxText = 65_536;

/**
 * Returns the form in which `owner` addresses the chat with `to`: as in the last message that `owner` received in this chat, or by number in a new chat. If the
 * platform hides one of the two numbers, the form is the LID.
 */
function spokenIn({ messages, people }: Parts, owner: Digits, to: string): Addressing {
  const other = people.resolve(to.includes('@') ? to : pnJid(to))?.person;
  if (other?.withoutNumber || people.find(owner)?.withoutNumber) return 'lid';
  return (other && messages.lastIn(owner, chatOf(other))?.extra.addressing) ?? 'pn';
}

export function messagesMethods(parts: Parts): MessagesMethods {
  const { db, groups, inbox, messages, outbox, people, presence, random, receipts } = parts;
  return {
    async send(from, to, content, options = {}) {
      const sender = people.ensure(from);
      const target = targetOf(parts, to, options.addressing ?? spokenIn(parts, from, to));
      const id = options.id ?? random.messageId();
      if (id.length > 128 || id === '') throw new SandboxError(400, 'id: 1 to 128 characters');
      if ('text' in content && content.text.length > maxText) throw new SandboxError(400, `text: at most ${maxText} characters`);
      const composed = await compose(sender, placeOf(target), content, parts);
      await outbox.send(sender, target, composed, id);
      return { id };
    },
    received(number) {
      const person = people.find(number);
      return person ? inbox.received(person) : [];
    },
    shown(number, chat) {
      const person = people.find(number);
      const target = targetOf(parts, chat, 'pn');
      const erased = erasedOf(parts, number);
      const jid = 'group' in target ? target.group.jid : pnJid(target.person.number);
      return person
        ? shownIn(
            messages.everything(number, jid).filter((one) => !erased(one)),
            person,
            people,
            groups.find(jid),
          )
        : [];
    },
    async askAgain(number, of, messageId, group) {
      const addressing = group === undefined ? undefined : groups.find(group)?.addressing;
      for (const device of people.devices(of)) inbox.demand(people.ensure(number), { id: messageId, device, group, addressing });
    },
    async receipt(number, input) {
      const person = knownPerson(parts, number);
      db.atomically(() => receipts.confirm(person, input));
    },
    async presence(number, { state, to }) {
      const person = people.ensure(number);
      const target = to === undefined ? undefined : targetOf(parts, to, person.withoutNumber ? 'lid' : 'pn');
      if (state === 'available' || state === 'unavailable') {
        presence.setOnline(person, 0, state === 'available', target && 'person' in target ? target.person : undefined);
        return;
      }
      if (!target) throw new SandboxError(400, `to: who shall see that ${number} is ${state}`);
      presence.chatstate(person, placeOf(target).chat, state);
    },
  };
}

/** Calls between people. */
export function callsMethods(parts: Parts): CallsMethods {
  const { db, people } = parts;
  return {
    async call(from, to, step) {
      const [caller, called] = [people.ensure(from), people.ensure(to)];
      return { id: db.atomically(() => stepCall(parts, caller, called, step)) };
    },
    callLog: () => parts.calls.all(),
  };
}

// Settings that the owner of a phone changes on the phone, and the settings that the phone shows after the changes of all devices.

const chatsOf = (setting: Setting): readonly string[] => {
  if (setting.kind === 'favorites') return setting.chats;
  return 'chat' in setting ? [setting.chat] : [];
};

export function settingsMethods(parts: Parts): SettingsMethods {
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
    settings: (number) => viewSettings(number, appState.records(number), appState.versions(number), parts),
  };
}
