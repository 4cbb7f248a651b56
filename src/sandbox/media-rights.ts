/** The right to upload: a word that clients ask for (`media_conn`) and that can run out. */
import { randomBytes } from 'node:crypto';

export class MediaRights {
  #auth = MediaRights.#make();

  static #make(): string {
    return randomBytes(24).toString('base64url');
  }

  get auth(): string {
    return this.#auth;
  }

  holds(auth: string | null): boolean {
    return auth === this.#auth;
  }

  /** Revokes the rights that were given out before. */
  renew(): void {
    this.#auth = MediaRights.#make();
  }
}
