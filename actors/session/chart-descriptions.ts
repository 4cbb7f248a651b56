/** What each state and each event of the charts means, for people who look at them. A test fails when one is missing. */
import type { ChartName } from './watched.ts';

interface Descriptions {
  readonly chart: string;
  readonly states: Readonly<Record<string, string>>;
}

const closing = 'Closes the connection first; commands wait until that is over.';

export const chartDescriptions: Readonly<Record<ChartName, Descriptions>> = {
  instance: {
    chart: 'Supervises the chart of the session and the couriers of one instance, and restarts what fails.',
    states: {
      running: 'The chart of the session runs.',
      recovering: 'The chart crashed: the connection is closed before anything starts again.',
      deciding: 'Decides what follows the crash.',
      restarting: 'Waits a moment before the chart is started again.',
      failed: 'The chart crashed too often. It is started again after a rest, or when somebody connects the instance.',
      stopped: 'The gateway stops.',
    },
  },
  lifecycle: {
    chart: 'The session of one instance: its connection to the platform, its pairing, its sleep and its end.',
    states: {
      beginning: 'What was wanted last decides where the chart begins.',
      disconnected: 'No connection, and none is tried by itself.',
      'disconnected.idle': 'Nothing is wanted: connect it to pair it or to bring it back.',
      'disconnected.loggedOut': 'The phone removed this device: pair it again.',
      'disconnected.suspended': 'The platform suspended the account; the session returns by itself when the time is over.',
      'disconnected.refused': 'The platform refuses the session. Nothing is tried until somebody connects it.',
      'disconnected.closing': closing,
      'disconnected.loggingOut': 'Tells the platform to forget this device.',
      'disconnected.abandoning': 'Closes the connection without a logout; the phone may still list the device.',
      'disconnected.deleting': 'Deletes the credentials.',
      'disconnected.deletingLater': 'The database refused to delete the credentials; it is tried again.',
      'disconnected.settingAside': 'Sets the credentials aside, because the platform does not accept them any more.',
      'disconnected.settingAsideLater': 'The database refused to set the credentials aside; it is tried again.',
      connecting: 'On its way to a live session.',
      'connecting.admission': 'Waits for its turn: only so many handshakes run at once.',
      'connecting.opening': 'Opens the connection to the platform.',
      'connecting.authenticating': 'The transport is open; the platform checks the credentials.',
      'connecting.pairing': 'Shows a QR or a pairing code and waits for the phone.',
      'connecting.waiting': 'Waits before the next try.',
      'connecting.closing': closing,
      connected: 'Logged in and live.',
      hibernated: 'Asleep to save resources; a call, the schedule or a message in its queue wakes it.',
      'hibernated.closing': closing,
      'hibernated.asleep': 'No connection. The credentials are kept.',
      unlinking: 'Logs in once more to log out, because only a live session can remove its device from the phone.',
      'unlinking.closing': 'Closes what is open and looks whether there is a pairing at all.',
      'unlinking.admission': 'Waits for its turn: only so many handshakes run at once.',
      'unlinking.opening': 'Opens the connection to log out on it.',
      'unlinking.waiting': 'Waits before the next try to log in.',
    },
  },
};

export const eventDescriptions: Readonly<Record<string, string>> = {
  start: 'The chart starts; what is stored of the instance says where.',
  always: 'Taken at once, without any event.',
  'instance.connect': 'A connection is wanted.',
  'instance.disconnect': 'The session is to be logged out.',
  'instance.reset': 'The connection is to be closed and opened again.',
  'instance.hibernate': 'The session is to sleep.',
  'instance.stop': 'The gateway stops.',
  'instance.request': 'Something is asked of the platform; only a live session takes it.',
  'platform.qr': 'The platform gave a QR to show.',
  'platform.code': 'The platform took the pairing code, which is shown now.',
  'platform.handshaken': 'The transport is open.',
  'platform.paired': 'The phone accepted this device.',
  'platform.opened': 'The platform accepted the login.',
  'platform.identity': 'The profile of the account changed.',
  'platform.closed': 'The platform or the network closed the connection; the code says what follows.',
  'operation.ended': 'A request to the platform is over.',
  'after.retryDelay': 'The pause before the next try is over.',
  'after.suspension': 'The time for which the account was suspended is over.',
  'after.pairingLimit': 'Nobody scanned the QR, or typed the code, in time.',
  'after.unlinkLimit': 'The session could not log in to log out within the limit.',
  'after.restartDelay': 'The pause before the restart is over.',
  'after.cooldown': 'The rest after too many crashes is over.',
  'done.admission': 'Its turn came.',
  'done.closing': 'The connection is closed.',
  'failed.closing': 'The connection could not be closed in order; it counts as closed.',
  'done.closingPaired': 'The connection is closed, and whether there is a pairing is known.',
  'failed.closingPaired': 'The credentials could not be read.',
  'done.loggingOut': 'The logout was sent, or the connection ended before it could be.',
  'failed.loggingOut': 'The logout could not be sent.',
  'done.discarding': 'The credentials are gone.',
  'failed.discarding': 'The database refused to remove the credentials.',
  'failed.lifecycle': 'The chart of the session crashed.',
  'link.surprised': 'The code that talks to the platform threw where nobody waited for it.',
  'delivery.added': 'Events wait for a webhook.',
  'delivery.changed': 'A webhook was changed.',
  'delivery.trimmed': 'Events that waited for a webhook were dropped.',
};
