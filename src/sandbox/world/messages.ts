/** Messages of simulated people, their receipts and presence. */
import { erasedOf } from '../app-state/erased.ts';
import { pnJid, type Addressing } from '../address.ts';
import { SandboxError, type Digits, type MessagesFace } from '../face.ts';
import { chatOf, compose } from '../messages/compose.ts';
import { shownIn } from '../messages/shown.ts';
import type { Parts } from '../parts.ts';
import { knownPerson, placeOf, targetOf } from './lookup.ts';

const maxText = 65_536;

/** Returns the form in which `owner` addresses the chat with `to`: that of the last message, and by number in a new chat. A hidden number is not used. */
function spokenIn({ messages, people }: Parts, owner: Digits, to: string): Addressing {
  const other = people.resolve(to.includes('@') ? to : pnJid(to))?.person;
  if (other?.withoutNumber || people.find(owner)?.withoutNumber) return 'lid';
  return (other && messages.lastIn(owner, chatOf(other))?.extra.addressing) ?? 'pn';
}

export function messagesRoom(parts: Parts): MessagesFace {
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
        presence.setOnline(person, state === 'available', target && 'person' in target ? target.person : undefined);
        return;
      }
      if (!target) throw new SandboxError(400, `to: who shall see that ${number} is ${state}`);
      presence.chatstate(person, placeOf(target).chat, state);
    },
  };
}
