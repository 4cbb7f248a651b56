/** The settings of the connector to Chatwoot as the interface spells them. */
import type { ChatwootSettings } from '#actors/views.ts';

const unset: ChatwootSettings = {
  enabled: false,
  url: '',
  accountId: 0,
  inboxId: 0,
  accessToken: '',
  ignoreGroups: false,
  signMessages: false,
  newConversations: false,
};

export const chatwootView = (settings: ChatwootSettings | null) => {
  const { enabled, url, accountId, inboxId, accessToken, ignoreGroups, signMessages, newConversations } = settings ?? unset;
  return {
    chatwoot_enabled: enabled,
    chatwoot_url: url,
    chatwoot_account_id: accountId,
    chatwoot_inbox_id: inboxId,
    chatwoot_access_token: accessToken,
    chatwoot_ignore_groups: ignoreGroups,
    chatwoot_sign_messages: signMessages,
    chatwoot_create_new_conversation: newConversations,
  };
};
