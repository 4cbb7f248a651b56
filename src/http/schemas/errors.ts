/** Bodies of errors. */
import { Type } from 'typebox';

export const ErrorBody = Type.Object({ error: Type.String({ examples: ['number is required'] }) }, { $id: 'Error' });

/** Beside the error when the platform refused something: its own words are quoted. */
export const platformErrorFields = {
  error_source: Type.String({ examples: ['whatsapp_server'] }),
  provider: Type.String({ examples: ['whatsapp'] }),
  provider_code: Type.Integer({ examples: [463] }),
  error_key: Type.String({ examples: ['WHATSAPP_REACHOUT_TIMELOCK'] }),
};

export const PlatformErrorBody = Type.Object(
  {
    error: Type.String({ examples: ['the account is restricted from starting new chats (reach-out time-lock)'] }),
    ...Type.Partial(Type.Object(platformErrorFields)).properties,
  },
  { $id: 'PlatformError' },
);
