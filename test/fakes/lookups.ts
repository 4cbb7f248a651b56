/** Results of lookups at the platform, in memory. */
import type { Claim, LookedPicture } from '#actors/model.ts';
import type { PictureStore, RecipientStore, StoredRecipient } from '#actors/ports.ts';
import type { FakeDatabase } from './storage.ts';

export class FakePictures implements PictureStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  find = (instance: string, ids: readonly string[]) =>
    this.#db.run('pictures.find', () =>
      [...this.#db.pictures].filter(([key, { id }]) => key.startsWith(`${instance} `) && ids.includes(id)).map(([, picture]) => picture),
    );
  save = (claim: Claim, picture: LookedPicture) =>
    this.#db.run('pictures.save', () => {
      this.#db.claim(claim);
      this.#db.pictures.set(`${claim.instanceId} ${picture.kind} ${picture.id}`, picture);
    });
  expire = (before: number, limit: number) =>
    this.#db.run('pictures.expire', () => {
      const old = [...this.#db.pictures].filter(([, { at }]) => at < before).slice(0, limit);
      for (const [key] of old) this.#db.pictures.delete(key);
      return old.length;
    });
}

/** The store of lookups. Only tests with PostgreSQL cover numbers that are known from exchanged messages. */
export class FakeRecipients implements RecipientStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }
  find = (
    instance: string,
    numbers: readonly (readonly string[])[],
    { knownSince, absentSince }: { readonly knownSince: number; readonly absentSince: number },
  ) =>
    this.#db.run('recipients.find', () =>
      numbers.map((forms) => {
        const rows = forms.flatMap((form) => this.#db.lookups.get(`${instance} ${form}`) ?? []);
        return rows.find(({ chatId, at }) => (at ?? 0) >= (chatId === '' ? absentSince : knownSince)) ?? null;
      }),
    );
  save = (claim: Claim, forms: readonly (Omit<StoredRecipient, 'at'> & { readonly form: string })[], at: number) =>
    this.#db.run('recipients.save', () => {
      this.#db.claim(claim);
      for (const { form, ...found } of forms) this.#db.lookups.set(`${claim.instanceId} ${form}`, { ...found, at });
    });
  expire = (before: number, limit: number) =>
    this.#db.run('recipients.expire', () => {
      const old = [...this.#db.lookups].filter(([, { at }]) => (at ?? 0) < before).slice(0, limit);
      for (const [key] of old) this.#db.lookups.delete(key);
      return old.length;
    });
}
