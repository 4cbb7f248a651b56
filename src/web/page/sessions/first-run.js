/** The session of the first run, until its first message is sent. The browser keeps it, so that a reader who left can continue. */

const key = 'firstRun';

/** The id of the session; '' when no first run is under way. */
export const firstRun = () => {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
};

/** @param {string} id '' when it is over. */
export const noteFirstRun = (id) => {
  try {
    if (id === '') localStorage.removeItem(key);
    else localStorage.setItem(key, id);
  } catch {
    // Storage is forbidden in some private windows: the list then gives no hint.
  }
};
