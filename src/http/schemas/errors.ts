/** Bodies of errors. */
import { Type } from 'typebox';
import { Capping, Timelock } from './account.ts';

export const ErrorBody = Type.Object({ error: Type.String({ examples: ['number is required'] }) }, { $id: 'Error' });

/** Fields of an error in addition to its text, if the platform refused the request. The fields name the platform's code and the limits of the account. */
export const platformErrorFields = {
  error_source: Type.String({ examples: ['whatsapp_server'] }),
  provider: Type.String({ examples: ['whatsapp'] }),
  provider_code: Type.Integer({ examples: [463] }),
  error_key: Type.String({ examples: ['WHATSAPP_REACHOUT_TIMELOCK'] }),
  diagnostics_endpoint: Type.String({ examples: ['/instance/wa_messages_limits'] }),
  details: Type.Object({ reachout_timelock: Type.Optional(Timelock), new_chat_message_capping: Type.Optional(Capping) }),
};

export const PlatformErrorBody = Type.Object(
  {
    error: Type.String({ examples: ['the account is restricted from starting new chats (reach-out time-lock)'] }),
    ...Type.Partial(Type.Object(platformErrorFields)).properties,
  },
  { $id: 'PlatformError' },
);
