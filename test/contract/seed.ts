/** Inserts an instance with a message and a chat into a running service. */
import type { Chat, Message } from '#actors/model.ts';
import { type TestDatabase, writerOf } from '#test/support/database.ts';
import type { TestService } from '#test/support/service.ts';

/** Writes a message and a chat while the service is away. The platform would report them, but this service has none. */
export const seeded = async (
  service: TestService,
  database: TestDatabase,
  { message, chat: { id: _id, extra: _extra, ...chat } }: { readonly message: Message; readonly chat: Chat },
) => {
  const shop = await service.instance('shop');
  await service.stop();
  const storage = await database.storage();
  await storage.journal.commit(await writerOf(storage, shop.id), [{ kind: 'message', message, chat, unread: true }], () => []);
  await storage.close();
  await service.start();
  return shop;
};
