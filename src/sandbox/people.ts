/** The simulated people and their linked devices, with their storage. */
import { EventEmitter } from 'node:events';
import { deriveLid, deviceKey, isNumber, otherForm, parseUser } from './address.ts';
import {
  type CeremonyFault,
  SandboxError,
  type Digits,
  type History,
  type PersonView,
  type Restrictions,
  type StatusPrivacy,
  type WorldEvent,
} from './interface.ts';
import type { Records } from './store/database.ts';
import type { Passkey } from './passkey/authenticator.ts';
import type { PhoneKeys } from './signal/identity.ts';
import type { SignedPreKey } from './store/keys.ts';

/** A linked device. */
export interface Device {
  readonly number: Digits;
  readonly device: number;
  readonly keyIndex: number;
  readonly noiseKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly account: Account;
  readonly linkedAt: number;
  readonly registrationId: number;
  signedPreKey: SignedPreKey;
  pushName: string;
  /** The history that the phone invents for this device. `sent` is true after the phone sent it. */
  history: History & { readonly sent: boolean };
}

/** The identity that phone and device signed at the pairing. The device attaches it to the first messages of a session. */
export interface Account {
  readonly details: Uint8Array;
  readonly accountSignatureKey: Uint8Array;
  readonly accountSignature: Uint8Array;
  readonly deviceSignature: Uint8Array;
}

/** A profile picture: an unencrypted file on the media host. */
export interface Picture {
  readonly id: string;
  readonly path: string;
}

export interface Person {
  readonly number: Digits;
  lid: Digits;
  /** LIDs of the former accounts of this number. They no longer belong to a person. */
  formerLids?: readonly Digits[];
  /** The name that the control interface or a client set, else ''. Other people see `People.pushName`. */
  name: string;
  /** True if the phone sends delivery receipts automatically. */
  autoDeliver: boolean;
  about: string;
  /** The name by which other people find the account; absent if there is none. */
  username?: string;
  /** The name of a verified business; absent for other people. */
  businessName?: string;
  nextDevice: number;
  /** The phone's Signal identity, which is made on first use. */
  keys?: PhoneKeys;
  picture?: Picture | undefined;
  readonly privacy: Record<string, string>;
  /** The audience of status posts. Absent if it was never set; the platform then answers 404. */
  statusPrivacy?: StatusPrivacy | 'unavailable';
  blocked: string[];
  /** The time after which messages of new chats disappear. In seconds. */
  disappearing?: number;
  restrictions?: Restrictions;
  /** True if the number has no account any more. */
  absent?: boolean;
  /** True if messages to the LID are accepted, and messages to the number are refused with 463. */
  migrated?: boolean;
  /** True if the platform hides the LID of this number. The person can then only be reached by the number. */
  withoutLid?: boolean;
  /**
   * True if the platform hides the number, as for people with a username (WhiskeySockets/Baileys 2742). All stanzas then have only the LID.
   */
  withoutNumber?: boolean;
  /**
   * True if messages to the person need a privacy token of the person and are otherwise refused with 463. Additions to groups without such a token are refused
   * with 403.
   */
  needsTokens?: boolean;
  /** True if the phone answers no request of its linked devices. */
  asleep?: boolean;
  /** Ids of the notices of terms that the account accepted. */
  notices?: readonly string[];
  /** True if the phone has the app for businesses. */
  business?: boolean;
  /** The passkey of the account. A device is linked only after the owner signed a challenge with the passkey. */
  passkey?: Passkey;
  passkeyFault?: CeremonyFault;
}

const maxPeople = 100_000;
const maxDevices = 20;

const openPrivacy = {
  last: 'all',
  online: 'all',
  profile: 'all',
  status: 'all',
  readreceipts: 'all',
  groupadd: 'all',
  calladd: 'all',
  messages: 'all',
};

export class People {
  readonly #records: Records;
  readonly #people = new Map<Digits, Person>();
  readonly #byLid = new Map<Digits, Person>();
  readonly #formerLids = new Set<Digits>();
  readonly #devices = new Map<string, Device>();
  readonly #byNumber = new Map<Digits, Device[]>();
  readonly #events = new EventEmitter();
  readonly #onBroken: (error: unknown) => void;
  #picked = 0;

  /** Loads the people from the records. `onBroken` gets the errors of subscribers. */
  constructor(records: Records, onBroken: (error: unknown) => void) {
    this.#records = records;
    this.#onBroken = onBroken;
    this.#events.setMaxListeners(0);
    for (const person of records.all<Person>('person')) this.#index(person);
    for (const device of records.all<Device>('device')) this.#indexDevice(device);
  }

  find(number: Digits): Person | undefined {
    return this.#people.get(number);
  }

  /** Picks an unused number from a range that is reserved for fiction. */
  freeNumber(): Digits {
    for (;;) {
      const number = `1555020${String(1000 + this.#picked++)}`;
      if (!this.find(number)) return number;
    }
  }

  /** Returns the registered form of a number. A Brazilian number may be registered in its other form. */
  canonical(number: Digits): Digits {
    const other = this.#people.has(number) ? undefined : otherForm(number);
    return other !== undefined && this.#people.has(other) ? other : number;
  }

  /** Returns the person with this number. Creates a person for an unknown number, because any number can get messages. */
  ensure(number: Digits): Person {
    const known = this.#people.get(number);
    if (known) return known;
    if (!isNumber(number)) throw new SandboxError(400, `not an international number (digits only): ${number.slice(0, 40)}`);
    if (this.#people.size >= maxPeople) throw new SandboxError(507, 'too many people');
    const person: Person = {
      number,
      lid: this.#freeLid(number),
      name: '',
      autoDeliver: true,
      about: 'Hey there! I am using WhatsApp.',
      nextDevice: 1,
      privacy: { ...openPrivacy },
      blocked: [],
    };
    this.#index(person);
    this.save(person);
    return person;
  }

  /** Gives the person another LID, as if the account was registered again. */
  renewLid(person: Person): void {
    this.#byLid.delete(person.lid);
    person.formerLids = [...(person.formerLids ?? []), person.lid];
    this.#formerLids.add(person.lid);
    person.lid = this.#freeLid(person.number);
    this.#index(person);
    this.save(person);
  }

  /** Returns true if the jid is the LID of a former account. The number of that account has a new account with another LID. */
  isFormer(jid: string): boolean {
    const address = parseUser(jid);
    return address?.addressing === 'lid' && this.#formerLids.has(address.user);
  }

  /** Returns the person and device of a jid. Creates a person for an unknown number. Returns `undefined` for an unknown LID. */
  resolve(jid: string | undefined): { readonly person: Person; readonly device: number } | undefined {
    const address = parseUser(jid);
    if (!address) return undefined;
    if (address.addressing === 'lid') {
      const person = this.#byLid.get(address.user);
      return person && { person, device: address.device };
    }
    if (!isNumber(address.user)) return undefined;
    return { person: this.ensure(address.user), device: address.device };
  }

  all(): Person[] {
    return [...this.#people.values()];
  }

  save(person: Person): void {
    this.#records.put('person', person.number, person);
  }

  devices(number: Digits): readonly Device[] {
    return this.#byNumber.get(number) ?? [];
  }

  device(number: Digits, device: number): Device | undefined {
    return this.#devices.get(deviceKey(number, device));
  }

  deviceByKey(key: string | undefined): Device | undefined {
    return key === undefined ? undefined : this.#devices.get(key);
  }

  /** Reserves and returns the number of the next linked device. */
  nextDevice(person: Person): number {
    if (this.devices(person.number).length >= maxDevices) throw new SandboxError(409, 'this phone has too many linked devices');
    const deviceNumber = person.nextDevice;
    person.nextDevice += 1;
    this.save(person);
    return deviceNumber;
  }

  saveDevice(device: Device): void {
    if (!this.#devices.has(deviceKey(device.number, device.device))) this.#indexDevice(device);
    this.#records.put('device', deviceKey(device.number, device.device), device);
  }

  dropDevice(device: Device): void {
    const key = deviceKey(device.number, device.device);
    this.#devices.delete(key);
    this.#byNumber.set(
      device.number,
      this.devices(device.number).filter((one) => one !== device),
    );
    this.#records.drop('device', key);
  }

  /**
   * Returns the name that other people see: the name of the device, else of the person, else of any device. Without any name, returns '' if the person has
   * linked a device before, else an invented name.
   */
  pushName(person: Person, device?: Device): string {
    const known = device?.pushName || person.name || this.devices(person.number).find(({ pushName }) => pushName !== '')?.pushName;
    return known ?? (person.nextDevice > 1 ? '' : `Person ${person.number.slice(-4)}`);
  }

  /** Makes the view of a person for the control interface and the page. `state` returns the connection state of a device, by its key. */
  view(person: Person, state: (key: string) => { connected: boolean; queued: number; address?: string }): PersonView {
    const devices = this.devices(person.number).map(({ number, device, linkedAt, pushName }) => ({
      device,
      linkedAt,
      pushName,
      ...state(deviceKey(number, device)),
    }));
    return { number: person.number, lid: person.lid, name: this.pushName(person), devices };
  }

  emit(event: WorldEvent): void {
    this.#events.emit('event', event);
  }

  subscribe(listener: (event: WorldEvent) => void): () => void {
    // Events are emitted in the middle of the platform's work. A subscriber that throws must not interrupt this work.
    const guarded = (event: WorldEvent): void => {
      try {
        listener(event);
      } catch (error) {
        this.#onBroken(error);
      }
    };
    this.#events.on('event', guarded);
    return () => this.#events.off('event', guarded);
  }

  #freeLid(number: Digits): Digits {
    for (let attempt = 0; ; attempt += 1) {
      const lid = deriveLid(number, attempt);
      if (!this.#byLid.has(lid) && !this.#people.has(lid) && !this.#formerLids.has(lid)) return lid;
    }
  }

  #index(person: Person): void {
    for (const lid of person.formerLids ?? []) this.#formerLids.add(lid);
    this.#people.set(person.number, person);
    this.#byLid.set(person.lid, person);
  }

  #indexDevice(device: Device): void {
    this.#devices.set(deviceKey(device.number, device.device), device);
    this.#byNumber.set(device.number, [...this.devices(device.number), device]);
  }
}
