/** The simulated people, their linked devices and where they are kept. */
import { EventEmitter } from 'node:events';
import { deriveLid, deviceKey, isNumber, parseUser } from './address.ts';
import { SandboxError, type Digits, type History, type PersonView, type WorldEvent } from './face.ts';
import type { Records } from './store/database.ts';
import type { PhoneKeys } from './signal/identity.ts';
import type { SignedPreKey } from './store/keys.ts';

/** A linked device as the platform knows it. */
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
  /** The phone has handed over its past; `undefined` when it never shall. */
  history: History & { readonly sent: boolean };
}

/** What phone and device signed at the pairing; a device shows it to others with its first messages. */
export interface Account {
  readonly details: Uint8Array;
  readonly accountSignatureKey: Uint8Array;
  readonly accountSignature: Uint8Array;
  readonly deviceSignature: Uint8Array;
}

/** A file on the media host that everybody may see. */
export interface Picture {
  readonly id: string;
  readonly path: string;
}

export interface Person {
  readonly number: Digits;
  readonly lid: Digits;
  /** As somebody entered it, or as the first client registered; '' when neither happened. Others see `People.pushName`. */
  name: string;
  /** The phone confirms the delivery of what it receives by itself. */
  autoDeliver: boolean;
  about: string;
  nextDevice: number;
  /** The phone's Signal identity, made when it is first needed. */
  keys?: PhoneKeys;
  picture?: Picture | undefined;
  readonly privacy: Record<string, string>;
  blocked: string[];
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
  readonly #devices = new Map<string, Device>();
  readonly #byNumber = new Map<Digits, Device[]>();
  readonly #events = new EventEmitter();
  readonly #onBroken: (error: unknown) => void;

  /** `onBroken` hears of subscribers that throw. */
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

  /** The person behind a number, made when new; people need no registration before they are written to. */
  ensure(number: Digits): Person {
    const known = this.#people.get(number);
    if (known) return known;
    if (!isNumber(number)) throw new SandboxError(400, `not an international number (digits only): ${number.slice(0, 40)}`);
    if (this.#people.size >= maxPeople) throw new SandboxError(507, 'too many people');
    let attempt = 0;
    let lid = deriveLid(number, attempt);
    while (this.#byLid.has(lid) || this.#people.has(lid)) lid = deriveLid(number, ++attempt);
    const person: Person = {
      number,
      lid,
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

  /** Whom a jid names: known people by either identifier, unknown ones by number only. */
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

  /** The number of the device that is linked next. */
  nextDevice(person: Person): number {
    if (this.devices(person.number).length >= maxDevices) throw new SandboxError(409, 'this phone has too many linked devices');
    const device = person.nextDevice;
    person.nextDevice += 1;
    this.save(person);
    return device;
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
   * Name that others see: of the device that wrote, of the person, or of any device. An account may have none ('' then); a contact always has one,
   * as people who use a phone do.
   */
  pushName(person: Person, device?: Device): string {
    const known = device?.pushName || person.name || this.devices(person.number).find(({ pushName }) => pushName !== '')?.pushName;
    return known ?? (person.nextDevice > 1 ? '' : `Person ${person.number.slice(-4)}`);
  }

  /** How the control interface and the page see a person. `state`: of a device, by its key. */
  view(person: Person, state: (key: string) => { connected: boolean; queued: number }): PersonView {
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
    // Events come out of the middle of the platform's work, which no subscriber may break.
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

  #index(person: Person): void {
    this.#people.set(person.number, person);
    this.#byLid.set(person.lid, person);
  }

  #indexDevice(device: Device): void {
    this.#devices.set(deviceKey(device.number, device.device), device);
    this.#byNumber.set(device.number, [...this.devices(device.number), device]);
  }
}
