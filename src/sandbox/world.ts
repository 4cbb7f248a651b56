/** Implements the face of the simulated platform for its control interface and for tests. */
import { isGroupJid, isMissingNumber, isNumber, jidOf, pnJid, type Addressing } from './address.ts';
import { applyFault, isLive } from './live-faults.ts';
import { stepCall } from './calls.ts';
import { postToChannel } from './channels.ts';
import {
  SandboxError,
  type CallStep,
  type Content,
  type Digits,
  type Fault,
  type GroupView,
  type PersonView,
  type ReceivedMessage,
  type Sandbox,
  type Setting,
  type ShownMessage,
  type Stats,
  type WorldEvent,
} from './face.ts';
import { setRule } from './group-rules.ts';
import { rankOf, viewGroup, type Group } from './groups.ts';
import { emitPerson, unlink } from './device-life.ts';
import { compose } from './messages/compose.ts';
import { shownIn } from './messages/shown.ts';
import type { Target } from './messages/outbox.ts';
import type { Parts } from './parts.ts';
import type { Person } from './people.ts';

type Trust = ReturnType<Sandbox['trust']>;
type GroupChange = Parameters<Sandbox['updateGroup']>[2];

const maxName = 100;
const maxText = 65_536;

/** Faults that happen before the client has said which account it belongs to. */
const anonymous: readonly Fault['kind'][] = [
  'refuseUpgrade',
  'silentHandshake',
  'garbageHandshake',
  'badCertificate',
  'uploadRefused',
  'uploadUnauthorised',
  'uploadSlow',
  'uploadCut',
];

export class World implements Sandbox {
  readonly #parts: Parts;
  readonly #trust: Trust;
  #nextNumber = 0;

  constructor(parts: Parts, trust: Trust) {
    this.#parts = parts;
    this.#trust = trust;
  }

  async scan(input: Parameters<Sandbox['scan']>[0]): Promise<PersonView> {
    const person = this.#named(input.number ?? this.#freeNumber(), input.name);
    await this.#parts.pairing.scan(input.qr, { person, history: input.history ?? { chats: 0, messages: 0 } });
    return this.#changed(person);
  }

  async enterCode(input: Parameters<Sandbox['enterCode']>[0]): Promise<PersonView> {
    const person = this.#named(input.number, input.name);
    await this.#parts.pairing.enterCode(input.code, { person, history: input.history ?? { chats: 0, messages: 0 } });
    return this.#changed(person);
  }

  async logout(number: Digits): Promise<void> {
    const person = this.#known(number);
    for (const device of this.#parts.people.devices(number)) unlink(this.#parts, device);
    this.#changed(person);
  }

  async send(from: Digits, to: string, content: Content, options: Parameters<Sandbox['send']>[3] = {}): Promise<{ id: string }> {
    const { people, random, outbox } = this.#parts;
    const sender = people.ensure(from);
    const target = this.#target(to, options.addressing ?? 'pn');
    const id = options.id ?? random.messageId();
    if (id.length > 128 || id === '') throw new SandboxError(400, 'id: 1 to 128 characters');
    if ('text' in content && content.text.length > maxText) throw new SandboxError(400, `text: at most ${maxText} characters`);
    const place = this.#place(target);
    const composed = await compose(sender, place, content, this.#parts);
    await outbox.send(sender, target, composed, id);
    return { id };
  }

  received(number: Digits): readonly ReceivedMessage[] {
    const person = this.#parts.people.find(number);
    return person ? this.#parts.inbox.received(person) : [];
  }

  shown(number: Digits, chat: string): readonly ShownMessage[] {
    const { people, messages, groups } = this.#parts;
    const person = people.find(number);
    const target = this.#target(chat, 'pn');
    const jid = 'group' in target ? target.group.jid : pnJid(target.person.number);
    return person ? shownIn(messages.everything(number, jid), person, people, groups.find(jid)) : [];
  }

  async receipt(number: Digits, input: Parameters<Sandbox['receipt']>[1]): Promise<void> {
    const person = this.#known(number);
    this.#parts.db.atomically(() => this.#parts.receipts.confirm(person, input));
  }

  async presence(number: Digits, { state, to }: Parameters<Sandbox['presence']>[1]): Promise<void> {
    const person = this.#parts.people.ensure(number);
    const target = to === undefined ? undefined : this.#target(to, 'pn');
    if (state === 'available' || state === 'unavailable') {
      this.#parts.presence.setOnline(person, state === 'available', target && 'person' in target ? target.person : undefined);
      return;
    }
    if (!target) throw new SandboxError(400, `to: who shall see that ${number} is ${state}`);
    this.#parts.presence.chatstate(person, this.#place(target).chat, state);
  }

  async createGroup(input: Parameters<Sandbox['createGroup']>[0]): Promise<GroupView> {
    const { people, groups, db } = this.#parts;
    const creator = people.ensure(input.creator);
    const members = input.participants.map((number) => people.ensure(number));
    return viewGroup(db.atomically(() => groups.create(input.subject, creator, members, input.addressing ?? 'pn')));
  }

  async updateGroup(jid: string, by: Digits, change: GroupChange): Promise<GroupView> {
    const group = this.#parts.groups.get(jid);
    const actor = this.#parts.people.ensure(by);
    const leaves = change.action === 'remove' && change.participants.every((number) => number === by);
    if (rankOf(group, by) === undefined) throw new SandboxError(403, `${by} is not in this group`);
    if (!leaves && needsAdmin(group, change) && !rankOf(group, by)) throw new SandboxError(403, `${by} is no admin of this group`);
    this.#parts.db.atomically(() => this.#change(group, actor, change));
    return viewGroup(group);
  }

  async change(number: Digits, setting: Setting): Promise<void> {
    if ('chat' in setting && !isGroupJid(setting.chat) && !isNumber(setting.chat)) throw new SandboxError(400, 'chat: a number or a group');
    await this.#parts.appState.change(this.#parts.people.ensure(number), setting);
  }

  async call(from: Digits, to: Digits, step: CallStep): Promise<{ id: string }> {
    const { people, db } = this.#parts;
    const [caller, called] = [people.ensure(from), people.ensure(to)];
    return { id: db.atomically(() => stepCall(this.#parts, caller, called, step)) };
  }

  async post(channel: string, input: Parameters<Sandbox['post']>[1]): Promise<{ id: string }> {
    return { id: await postToChannel(this.#parts, channel, input) };
  }

  async putPerson({ number, name, autoDeliver }: Parameters<Sandbox['putPerson']>[0]): Promise<PersonView> {
    const person = this.#named(number, name);
    if (autoDeliver !== undefined) person.autoDeliver = autoDeliver;
    this.#parts.people.save(person);
    return this.#changed(person);
  }

  people(): readonly PersonView[] {
    return this.#parts.people.all().map((person) => this.#view(person));
  }

  groups(): readonly GroupView[] {
    return this.#parts.groups.all().map(viewGroup);
  }

  async fault(fault: Fault): Promise<{ hit: number }> {
    const { faults, links, people } = this.#parts;
    const { kind, number, times } = fault;
    if (number !== undefined && anonymous.includes(kind)) throw new SandboxError(400, `${kind}: happens before anybody said who connects`);
    if (times !== undefined && (!Number.isInteger(times) || times < 0 || times > 1_000_000))
      throw new SandboxError(400, 'times: 0 or more');
    const live = links.all().filter((one) => number === undefined || people.deviceByKey(one.deviceKey)?.number === number);
    if (times === 0) {
      if (kind === 'delay') for (const one of live) one.delayMs = 0;
      return { hit: faults.clear(kind, number) };
    }
    if (!isLive(kind)) {
      faults.arm(fault, times ?? 1);
      return { hit: 0 };
    }
    const chosen = live.slice(0, times ?? live.length);
    for (const one of chosen) applyFault(one, fault);
    // When fewer connections are open than were asked for, the rest of the fault waits for the next logins.
    const wanted = times ?? Math.max(chosen.length, 1);
    if (wanted > chosen.length) faults.arm(fault, wanted - chosen.length);
    return { hit: chosen.length };
  }

  stats(): Stats {
    return this.#parts.counters.snapshot();
  }

  trust(): Trust {
    return this.#trust;
  }

  subscribe(listener: (event: WorldEvent) => void): () => void {
    return this.#parts.people.subscribe(listener);
  }

  #change(group: Group, actor: Person, change: GroupChange): void {
    const { groups, people } = this.#parts;
    switch (change.action) {
      case 'add':
        groups.add(
          group,
          actor,
          change.participants.map((number) => people.ensure(number)),
        );
        break;
      case 'remove':
        groups.remove(
          group,
          actor,
          change.participants.map((number) => people.ensure(number)),
        );
        break;
      case 'promote':
      case 'demote': {
        const rank = change.action === 'promote' ? 'admin' : null;
        groups.rank(
          group,
          actor,
          change.participants.map((number) => people.ensure(number)),
          rank,
        );
        break;
      }
      case 'subject':
        groups.setSubject(group, actor, change.text);
        break;
      case 'description':
        groups.setDescription(group, actor, change.text);
        break;
      default:
        setRule(this.#parts, group, actor, change);
    }
  }

  /** `to`: digits, a user's jid or a group's jid. */
  #target(to: string, addressing: Addressing): Target {
    if (isGroupJid(to)) return { group: this.#parts.groups.get(to) };
    const found = this.#parts.people.resolve(to.includes('@') ? to : pnJid(to));
    if (!found) throw new SandboxError(400, `to: neither a number nor a group: ${to.slice(0, 60)}`);
    return { person: found.person, addressing };
  }

  #place(target: Target): { chat: string; addressing: Addressing; group: boolean } {
    if ('group' in target) return { chat: target.group.jid, addressing: target.group.addressing, group: true };
    return { chat: jidOf(target.person, target.addressing), addressing: target.addressing, group: false };
  }

  #named(number: Digits, name: string | undefined): Person {
    if (!isNumber(number) || isMissingNumber(number)) throw new SandboxError(400, 'number: 7 to 15 digits, and not of country code 999');
    if (name !== undefined && (name === '' || name.length > maxName)) throw new SandboxError(400, `name: 1 to ${maxName} characters`);
    const person = this.#parts.people.ensure(number);
    if (name !== undefined && name !== person.name) {
      person.name = name;
      this.#parts.people.save(person);
    }
    return person;
  }

  #known(number: Digits): Person {
    const person = this.#parts.people.find(number);
    if (!person) throw new SandboxError(404, `nobody has the number ${number.slice(0, 40)}`);
    return person;
  }

  /** Picks an unused number from a range that is reserved for fiction. */
  #freeNumber(): Digits {
    for (;;) {
      const number = `1555020${String(1000 + this.#nextNumber++)}`;
      if (!this.#parts.people.find(number)) return number;
    }
  }

  #view(person: Person): PersonView {
    const { people, links } = this.#parts;
    return people.view(person, (key) => links.state(key));
  }

  #changed(person: Person): PersonView {
    emitPerson(this.#parts, person.number);
    return this.#view(person);
  }
}

function needsAdmin(group: Group, { action }: GroupChange): boolean {
  if (action === 'add') return group.adminAdd;
  if (action === 'subject' || action === 'description' || action === 'ephemeral') return group.locked;
  return true;
}
