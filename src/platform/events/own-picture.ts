/** The address of the account's own profile picture: looked up once a login and after each change, at a pace that all sessions share. */
import type { WASocket } from '@whiskeysockets/baileys';
import { bare } from '../wire/jid.ts';
import { answerOf } from '../wire/outcomes.ts';
import type { BaileysEvent } from './library-values.ts';

/** Milliseconds. */
export interface PictureDelays {
  /** After the login, so that the backlog comes first. */
  readonly login: number;
  /** Between the look-ups of two sessions. */
  readonly between: number;
}

/** Five look-ups a second keep up with the logins, which the gate lets through at the same pace. */
export const pictureDelays: PictureDelays = { login: 2_000, between: 200 };

/** Picture queries of all sessions of the process. */
export interface PicturePace {
  readonly login: number;
  /** Milliseconds until the next free place, which is taken by this. */
  place(): number;
}

export const createPicturePace = ({ login, between }: PictureDelays, now: () => number): PicturePace => {
  let next = 0;
  return {
    login,
    place() {
      const at = Math.max(next, now());
      next = at + between;
      return at - now();
    },
  };
};

export interface OwnPictureInput {
  readonly sock: Pick<WASocket, 'profilePictureUrl'>;
  readonly pace: PicturePace;
  /** Own addresses without device. */
  me(): { readonly pn: string; readonly lid: string };
  /** The picture of somebody else, or of a group, changed. */
  changed(id: string): void;
  /** '' when there is no picture, or none that a linked device may see. */
  found(url: string): void;
  failed(error: unknown): void;
}

export class OwnPicture {
  readonly #input: OwnPictureInput;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(input: OwnPictureInput) {
    this.#input = input;
  }

  loggedIn(): void {
    this.#ask(this.#input.pace.login);
  }

  /** Looks again when the platform says that the own picture was changed or removed; reports changes of other pictures. */
  observe(event: BaileysEvent): void {
    if (event.name !== 'contacts.update') return;
    const { pn, lid } = this.#input.me();
    const changed = event.data.filter(({ imgUrl }) => imgUrl === 'changed' || imgUrl === 'removed').map(({ id }) => bare(id));
    if (changed.some((id) => [pn, lid].includes(id))) this.#ask(0);
    for (const id of changed) if (id !== '' && id !== pn && id !== lid) this.#input.changed(id);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #ask(delay: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), delay + this.#input.pace.place()).unref();
  }

  async #look(): Promise<void> {
    const { sock, me, found, failed } = this.#input;
    try {
      // The platform refuses the request when there is no picture.
      const asked = await answerOf(sock.profilePictureUrl(me().pn, 'image'), () => true);
      if (!this.#closed) found(asked.ok ? (asked.value ?? '') : '');
    } catch (error) {
      if (!this.#closed) failed(error);
    }
  }
}
