/** Linking with a passkey as the interface spells it. */
import type { PasskeyNotice } from '#actors/model.ts';
import { timeText } from './time.ts';

export const passkeyNotice = ({ stage, code, expiresAt }: PasskeyNotice) => ({ stage, code, expires: timeText(expiresAt) });
