/** Commands of the gateway in memory on people: accounts, known facts, pictures. */
import { done, type Gateway } from '#actors/gateway.ts';
import { chat } from '#test/contract/samples.ts';
import type { Attempt } from './definitions.ts';

/** A number with an account. */
const checkedNumber = { chatId: chat.chatId, lid: '', exists: true, businessName: 'Shop', groupName: '', error: '' };

export const peopleCommands = (attempt: Attempt): Pick<Gateway, 'picture' | 'chatDetails' | 'checkNumbers'> => ({
  picture: () => attempt(() => done({ state: 'there' as const, url: 'https://pps.whatsapp.net/v/picture.jpg' })),
  chatDetails: (_id, _number, kind) =>
    attempt(() =>
      done({
        chatId: chat.chatId,
        lid: '',
        chat,
        picture: { state: 'there' as const, url: 'https://pps.whatsapp.net/v/picture.jpg', kind },
        businessName: '',
        commonGroups: [{ id: '120363000000000000@g.us', name: 'Staff' }],
      }),
    ),
  checkNumbers: (_id, numbers) => attempt(() => done(numbers.map((query) => ({ ...checkedNumber, query })))),
});
