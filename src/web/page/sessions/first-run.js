/** The session of the first run, until its first message is sent. The browser stores its id, so that a reader who left can continue. */

const key = 'firstRun';

/** Returns the id of the session; '' if no first run is under way. */
export const firstRun = () => {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
};

/** Stores the id of the session. @param {string} id '' when the first run is over. */
export const noteFirstRun = (id) => {
  try {
    if (id === '') localStorage.removeItem(key);
    else localStorage.setItem(key, id);
  } catch {
    // Storage is forbidden in some private windows. The list then shows no button that continues the first run.
  }
};
