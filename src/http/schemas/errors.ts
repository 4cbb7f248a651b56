/** Bodies of errors. */
import { Type } from 'typebox';

export const ErrorBody = Type.Object({ error: Type.String({ examples: ['number is required'] }) }, { $id: 'Error' });

/** When the platform refused something its own words are quoted. */
export const PlatformErrorBody = Type.Object(
  {
    error: Type.String({ examples: ['the account is restricted from starting new chats (reach-out time-lock)'] }),
    error_source: Type.Optional(Type.String({ examples: ['whatsapp_server'] })),
    provider: Type.Optional(Type.String({ examples: ['whatsapp'] })),
    provider_code: Type.Optional(Type.Integer({ examples: [463] })),
    error_key: Type.Optional(Type.String({ examples: ['WHATSAPP_REACHOUT_TIMELOCK'] })),
  },
  { $id: 'PlatformError' },
);
