/** Gateway methods for alerts. */
import type { AlertAttempt, AlertChannel, AlertSecretName, AlertSecrets, AlertSettings, Result, Trouble } from '../model.ts';

export interface AlertView {
  readonly settings: AlertSettings;
  /** Names of the secrets that are set. */
  readonly secrets: readonly AlertSecretName[];
  /** The troubles of now, cut to a readable number. */
  readonly troubles: readonly (Trouble & { readonly toldAt: number | null })[];
  readonly total: number;
  /** The last attempt of each channel, and the number of messages that wait for the channel. Times in Unix milliseconds. */
  readonly outcomes: readonly { readonly channel: AlertChannel; readonly at: number; readonly error: string; readonly waiting: number }[];
}

export interface AlertFace {
  alerts(): Promise<AlertView>;
  /** Replaces the settings. A secret that is not given stays, and '' removes one. Refuses with `invalid`, with the reason. */
  saveAlerts(settings: AlertSettings, secrets: Partial<AlertSecrets>): Promise<Result<AlertView>>;
  /** Sends a test over one channel at once. */
  testAlert(channel: AlertChannel): Promise<Result<AlertAttempt>>;
}
