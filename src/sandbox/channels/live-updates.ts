/** The devices that get live updates of channels, with the end of each subscription. A restart of the platform forgets them. */
import type { Device } from '../people.ts';

export class LiveUpdates {
  /** Channel → device → when it ends, in Unix milliseconds. */
  readonly #subscribed = new Map<string, Map<Device, number>>();

  subscribe(channel: string, device: Device, seconds: number): void {
    const devices = this.#subscribed.get(channel) ?? new Map<Device, number>();
    this.#subscribed.set(channel, devices.set(device, Date.now() + seconds * 1000));
  }

  of(channel: string): Device[] {
    const now = Date.now();
    const devices = this.#subscribed.get(channel);
    for (const [device, until] of devices ?? []) if (until < now) devices?.delete(device);
    return [...(devices?.keys() ?? [])];
  }
}
