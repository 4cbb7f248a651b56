/** The answers of `/chat/details` and `/chat/avatar`. */
import type { ChatDetails } from '#actors/views.ts';
import type { Picture, PictureKind } from '#actors/model.ts';
import { emptyChat } from './chat-fields.ts';
import { chatView } from './chat.ts';
import { phoneOf } from './phone.ts';

const named = ({ id, name }: ChatDetails['commonGroups'][number]): string => `(${name})${id}`;

/** A whole chat, with what was looked up now. `is_business` and `business_name` are left out when they are not known. */
export const chatDetailsView = ({ chatId, lid, chat, picture, businessName, commonGroups }: ChatDetails, owner: string) => {
  const phone = phoneOf(chatId);
  const known = chat ?? { ...emptyChat, chatId, chatLid: lid, phone, name: phone, isGroup: chatId.endsWith('@g.us') };
  return {
    ...chatView(known, owner),
    common_groups: commonGroups.map(named).join(','),
    ...(businessName === null ? {} : { is_business: businessName !== '', business_name: businessName }),
    ...(picture === null ? {} : pictureField(picture.kind, picture.url)),
  };
};

const pictureField = (kind: PictureKind, url: string) => (kind === 'image' ? { image: url } : { imagePreview: url });

/** The picture that was not asked for is ''. */
export const avatarView = ({ state, url }: Picture, kind: PictureKind) => ({
  image: '',
  imagePreview: '',
  ...pictureField(kind, url),
  status: state,
});
