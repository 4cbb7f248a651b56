/** Operations on labels and quick replies: records of the state that the phone and its devices share. */
import type { DefinitionOperations } from '#actors/ports.ts';
import { indexOfChat, type Mutation, setAction } from '../app-state/actions.ts';
import { isPerson } from '../wire/jid.ts';
import { answered } from '../wire/outcomes.ts';
import type { Handlers } from './handlers.ts';
import { lidOf } from './people.ts';

/** The collections of labels and quick replies. */
const collection = 'regular';

const marks = (ids: readonly string[], jid: string, labeled: boolean): readonly Mutation[] =>
  ids.map((id) => setAction('label_jid', [id, jid], { labelAssociationAction: { labeled } }));

export const definitionHandlers: Handlers<DefinitionOperations> = {
  'label.define': ({ shared }, { label: { id, name, color, deleted } }) =>
    shared.patch([setAction('label_edit', [id], { labelEditAction: { name, color, deleted } })]),

  'label.mark': async (connection, { chatId, add, remove }) => {
    const { shared, directory } = connection;
    if (isPerson(chatId)) await lidOf(connection, chatId);
    const jid = indexOfChat(directory, chatId);
    const [first, ...others] = [...marks(add, jid, true), ...marks(remove, jid, false)];
    return first === undefined ? answered(null) : shared.patch([first, ...others]);
  },

  'label.reload': async ({ shared }, { whole }) => {
    await (whole ? shared.reload([collection]) : shared.refresh([collection]));
    return answered(null);
  },

  'quickReply.define': ({ shared }, { reply: { id, shortcut, text, keywords, count }, deleted }) =>
    shared.patch([
      setAction('quick_reply', [id], { quickReplyAction: { shortcut, message: text, keywords: [...keywords], count, deleted } }),
    ]),
};
