/** Sets the chosen colour scheme before anything is painted. A classic script, so that the first paint waits for it. */
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is forbidden in some private windows: the page follows the system then.
}
